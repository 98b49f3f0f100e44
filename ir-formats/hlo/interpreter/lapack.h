// LAPACK (as OpenBLAS brings it) for the four element types: the Fortran entry points, and one overloaded C++
// function each with the workspace made on the way. Matrices are column-major with the leading dimension
// equal to their rows (at least 1); every function returns LAPACK's info.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace ncc::hlo::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

// NOLINTBEGIN: names and argument lists are LAPACK's. A string argument brings its length as a last argument.
#define NCC_LAPACK_TYPE(p, T, R, og, om, tr)                                                          \
  extern "C" {                                                                                        \
  void p##potrf_(const char*, const int*, T*, const int*, int*, size_t);                              \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                 \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                   \
  void p##og##_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);  \
  void p##om##_(const char*, const char*, const int*, const int*, const int*, const T*, const int*,   \
                const T*, T*, const int*, T*, const int*, int*, size_t, size_t);                      \
  void p##gehrd_(const int*, const int*, const int*, T*, const int*, T*, T*, const int*, int*);       \
  void p##tr##_(const char*, const int*, T*, const int*, R*, R*, T*, T*, const int*, int*, size_t);   \
  void p##gtsv_(const int*, const int*, T*, T*, T*, T*, const int*, int*);                            \
  void p##trsm_(const char*, const char*, const char*, const char*, const int*, const int*, const T*, \
                const T*, const int*, T*, const int*, size_t, size_t, size_t, size_t);                \
  }                                                                                                   \
  inline auto potrf_of(T*) { return p##potrf_; }                                                      \
  inline auto getrf_of(T*) { return p##getrf_; }                                                      \
  inline auto geqrf_of(T*) { return p##geqrf_; }                                                      \
  inline auto orgqr_of(T*) { return p##og##_; }                                                       \
  inline auto ormqr_of(T*) { return p##om##_; }                                                       \
  inline auto gehrd_of(T*) { return p##gehrd_; }                                                      \
  inline auto sytrd_of(T*) { return p##tr##_; }                                                       \
  inline auto gtsv_of(T*) { return p##gtsv_; }                                                        \
  inline auto trsm_of(T*) { return p##trsm_; }
NCC_LAPACK_TYPE(s, float, float, orgqr, ormqr, sytrd)
NCC_LAPACK_TYPE(d, double, double, orgqr, ormqr, sytrd)
NCC_LAPACK_TYPE(c, std::complex<float>, float, ungqr, unmqr, hetrd)
NCC_LAPACK_TYPE(z, std::complex<double>, double, ungqr, unmqr, hetrd)
#undef NCC_LAPACK_TYPE

// Routines whose complex form takes other arguments.
#define NCC_LAPACK_REAL(p, T)                                                                                \
  extern "C" {                                                                                               \
  void p##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, int*);                    \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, \
                 int*, size_t, size_t);                                                                      \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,            \
                const int*, T*, const int*, int*, size_t, size_t);                                           \
  void p##gees_(const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, T*, const int*,   \
                T*, const int*, int*, int*, size_t, size_t);                                                 \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,    \
                 T*, const int*, int*, int*, size_t);                                                        \
  void p##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,   \
                 const int*, T*, const int*, int*, size_t, size_t);                                          \
  }                                                                                                          \
  inline auto geqp3_of(T*) { return p##geqp3_; }                                                             \
  inline auto syevd_of(T*) { return p##syevd_; }                                                             \
  inline auto geev_of(T*) { return p##geev_; }                                                               \
  inline auto gees_of(T*) { return p##gees_; }                                                               \
  inline auto gesdd_of(T*) { return p##gesdd_; }                                                             \
  inline auto gesvd_of(T*) { return p##gesvd_; }
NCC_LAPACK_REAL(s, float)
NCC_LAPACK_REAL(d, double)
#undef NCC_LAPACK_REAL

#define NCC_LAPACK_COMPLEX(p, T, R)                                                                        \
  extern "C" {                                                                                             \
  void p##geqp3_(const int*, const int*, T*, const int*, int*, T*, T*, const int*, R*, int*);              \
  void p##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*, \
                 int*, const int*, int*, size_t, size_t);                                                  \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,  \
                T*, const int*, R*, int*, size_t, size_t);                                                 \
  void p##gees_(const char*, const char*, void*, const int*, T*, const int*, int*, T*, T*, const int*, T*, \
                const int*, R*, int*, int*, size_t, size_t);                                               \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*,  \
                 T*, const int*, R*, int*, int*, size_t);                                                  \
  void p##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, \
                 const int*, T*, const int*, R*, int*, size_t, size_t);                                    \
  }                                                                                                        \
  inline auto geqp3_of(T*) { return p##geqp3_; }                                                           \
  inline auto syevd_of(T*) { return p##heevd_; }                                                           \
  inline auto geev_of(T*) { return p##geev_; }                                                             \
  inline auto gees_of(T*) { return p##gees_; }                                                             \
  inline auto gesdd_of(T*) { return p##gesdd_; }                                                           \
  inline auto gesvd_of(T*) { return p##gesvd_; }
NCC_LAPACK_COMPLEX(c, std::complex<float>, float)
NCC_LAPACK_COMPLEX(z, std::complex<double>, double)
#undef NCC_LAPACK_COMPLEX
// NOLINTEND

inline int leading(int rows) { return std::max(1, rows); }

// call(work, lwork, info) first asks for the size of its workspace, then works.
template <class T, class Call>
int with_workspace(Call&& call) {
  T wanted{};
  int info = 0, query = -1;
  call(&wanted, &query, &info);
  if (info != 0) return info;
  std::vector<T> work(static_cast<size_t>(std::max<double>(1, static_cast<double>(std::real(wanted)))));
  const int size = static_cast<int>(work.size());
  call(work.data(), &size, &info);
  return info;
}

template <class T>
int potrf(char uplo, int n, T* a) {
  const int lda = leading(n);
  int info = 0;
  potrf_of(a)(&uplo, &n, a, &lda, &info, 1);
  return info;
}

/// pivots: min(m, n), counted from 1.
template <class T>
int getrf(int m, int n, T* a, int* pivots) {
  const int lda = leading(m);
  int info = 0;
  getrf_of(a)(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int geqrf(int m, int n, T* a, T* tau) {
  const int lda = leading(m);
  return with_workspace<T>(
      [&](T* work, const int* size, int* info) { geqrf_of(a)(&m, &n, a, &lda, tau, work, size, info); });
}

/// columns: on entry 0 = free, on return counted from 1.
template <class T>
int geqp3(int m, int n, T* a, int* columns, T* tau) {
  const int lda = leading(m);
  [[maybe_unused]] std::vector<Real<T>> rwork(static_cast<size_t>(2 * n + 1));
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>)
      geqp3_of(a)(&m, &n, a, &lda, columns, tau, work, size, rwork.data(), info);
    else
      geqp3_of(a)(&m, &n, a, &lda, columns, tau, work, size, info);
  });
}

template <class T>
int orgqr(int m, int n, int k, T* a, const T* tau) {
  const int lda = leading(m);
  return with_workspace<T>(
      [&](T* work, const int* size, int* info) { orgqr_of(a)(&m, &n, &k, a, &lda, tau, work, size, info); });
}

/// c (m x n) times the product of k reflectors held in `a`, which has as many rows as the product.
template <class T>
int ormqr(char side, char trans, int m, int n, int k, const T* a, const T* tau, T* c) {
  const int lda = leading(side == 'L' ? m : n), ldc = leading(m);
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    ormqr_of(c)(&side, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, size, info, 1, 1);
  });
}

/// low and high are counted from 1.
template <class T>
int gehrd(int n, int low, int high, T* a, T* tau) {
  const int lda = leading(n);
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    gehrd_of(a)(&n, &low, &high, a, &lda, tau, work, size, info);
  });
}

template <class T>
int sytrd(char uplo, int n, T* a, Real<T>* d, Real<T>* e, T* tau) {
  const int lda = leading(n);
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    sytrd_of(a)(&uplo, &n, a, &lda, d, e, tau, work, size, info, 1);
  });
}

template <class T>
int gtsv(int n, int columns, T* dl, T* d, T* du, T* b) {
  const int ldb = leading(n);
  int info = 0;
  gtsv_of(b)(&n, &columns, dl, d, du, b, &ldb, &info);
  return info;
}

/// b (m x n) becomes the solution.
template <class T>
void trsm(char side, char uplo, char trans, char diag, int m, int n, const T* a, T* b) {
  const int lda = leading(side == 'L' ? m : n), ldb = leading(m);
  const T one = 1;
  trsm_of(b)(&side, &uplo, &trans, &diag, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}

template <class T>
int syevd(char job, char uplo, int n, T* a, Real<T>* w) {
  const int lda = leading(n);
  int query = -1, info = 0, int_size = 0;
  T size{};
  Real<T> real_size{};
  if constexpr (kIsComplex<T>)
    syevd_of(a)(&job, &uplo, &n, a, &lda, w, &size, &query, &real_size, &query, &int_size, &query, &info, 1,
                1);
  else
    syevd_of(a)(&job, &uplo, &n, a, &lda, w, &size, &query, &int_size, &query, &info, 1, 1);
  const int work_size = static_cast<int>(std::real(size)), rwork_size = static_cast<int>(real_size);
  std::vector<T> work(static_cast<size_t>(std::max(1, work_size)));
  std::vector<int> iwork(static_cast<size_t>(std::max(1, int_size)));
  if constexpr (kIsComplex<T>) {
    std::vector<Real<T>> rwork(static_cast<size_t>(std::max(1, rwork_size)));
    syevd_of(a)(&job, &uplo, &n, a, &lda, w, work.data(), &work_size, rwork.data(), &rwork_size, iwork.data(),
                &int_size, &info, 1, 1);
  } else {
    syevd_of(a)(&job, &uplo, &n, a, &lda, w, work.data(), &work_size, iwork.data(), &int_size, &info, 1, 1);
  }
  return info;
}

/// Eigenvalues in `w`, for a real matrix with imaginary parts in `wi`; eigenvectors packed as LAPACK does.
template <class T>
int geev(char left, char right, int n, T* a, T* w, [[maybe_unused]] T* wi, T* vl, T* vr) {
  const int ld = leading(n);
  [[maybe_unused]] std::vector<Real<T>> rwork(static_cast<size_t>(2 * n + 1));
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>)
      geev_of(a)(&left, &right, &n, a, &ld, w, vl, &ld, vr, &ld, work, size, rwork.data(), info, 1, 1);
    else
      geev_of(a)(&left, &right, &n, a, &ld, w, wi, vl, &ld, vr, &ld, work, size, info, 1, 1);
  });
}

/// Schur form without an order of the eigenvalues.
template <class T>
int gees(char job, int n, T* a, T* w, [[maybe_unused]] T* wi, T* vs) {
  const int ld = leading(n);
  const char sort = 'N';
  int sorted = 0;
  std::vector<int> bwork(static_cast<size_t>(n + 1));
  [[maybe_unused]] std::vector<Real<T>> rwork(static_cast<size_t>(n + 1));
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>)
      gees_of(a)(&job, &sort, nullptr, &n, a, &ld, &sorted, w, vs, &ld, work, size, rwork.data(),
                 bwork.data(), info, 1, 1);
    else
      gees_of(a)(&job, &sort, nullptr, &n, a, &ld, &sorted, w, wi, vs, &ld, work, size, bwork.data(), info, 1,
                 1);
  });
}

/// job: 'A' all vectors, 'S' the first min(m, n), 'N' none. `divide` = divide and conquer, else QR iteration.
template <class T>
int svd(bool divide, char job, int m, int n, T* a, Real<T>* s, T* u, T* vt) {
  const size_t low = static_cast<size_t>(std::min(m, n)), high = static_cast<size_t>(std::max(m, n));
  const int lda = leading(m), ldvt = leading(job == 'S' ? std::min(m, n) : n);
  std::vector<int> iwork(8 * low + 1);
  // Enough for either routine and any job.
  [[maybe_unused]] std::vector<Real<T>> rwork(5 * low * low + 7 * low + 2 * high * low + 2 * low * low + low +
                                              1);
  return with_workspace<T>([&](T* work, const int* size, int* info) {
    if constexpr (kIsComplex<T>) {
      if (divide)
        gesdd_of(a)(&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, size, rwork.data(), iwork.data(),
                    info, 1);
      else
        gesvd_of(a)(&job, &job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, size, rwork.data(), info, 1, 1);
    } else {
      if (divide)
        gesdd_of(a)(&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, size, iwork.data(), info, 1);
      else
        gesvd_of(a)(&job, &job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, size, info, 1, 1);
    }
  });
}

}  // namespace ncc::hlo::lapack
