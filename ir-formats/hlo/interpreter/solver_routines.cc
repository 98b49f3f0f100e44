// LAPACK as JAX calls it: `lapack_<type><routine>_ffi`, and the same routines under the names of the
// libraries for other machines. Source: spec/stablehlo-text.md §2.12; attributes and results are those of
// JAX's typed FFI handlers.
#include <cmath>

#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/lapack.h"
#include "ir-formats/hlo/interpreter/solver_call.h"

namespace ncc::hlo {
namespace {

using lapack::kIsComplex;
using lapack::Real;
template <class T>
using Vector = std::vector<T>;

size_t area(int m, int n) { return static_cast<size_t>(m) * static_cast<size_t>(n); }

template <class T>
bool all_finite(const Vector<T>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
}

template <class T>
void potrf(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch);
  const int n = call.rows(0);
  int info = lapack::potrf(call.uplo(), n, a.data());
  // A NaN on the diagonal is reported by some builds of the library only.
  for (int i = 0; i < n && info == 0; ++i)
    if (std::isnan(std::real(a[area(i, n + 1)]))) info = i + 1;
  call.put_matrix(0, batch, a);
  call.put_info(1, batch, info);
}

template <class T>
void getrf(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch);
  Vector<int> pivots(static_cast<size_t>(std::min(call.rows(0), call.cols(0))));
  const int info = lapack::getrf(call.rows(0), call.cols(0), a.data(), pivots.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, pivots);
  call.put_info(2, batch, info);
}

template <class T>
void geqrf(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch), tau(static_cast<size_t>(std::min(call.rows(0), call.cols(0))));
  const int info = lapack::geqrf(call.rows(0), call.cols(0), a.data(), tau.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, tau);
  call.put_info(2, batch, info);
}

template <class T>
void geqp3(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch), tau(static_cast<size_t>(std::min(call.rows(0), call.cols(0))));
  Vector<int> columns = call.vector<int>(1, batch);
  lapack::geqp3(call.rows(0), call.cols(0), a.data(), columns.data(), tau.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, columns);
  call.put_vector(2, batch, tau);
}

template <class T>
void orgqr(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch);
  const Vector<T> tau = call.vector<T>(1, batch);
  const int info =
      lapack::orgqr(call.rows(0), call.cols(0), static_cast<int>(tau.size()), a.data(), tau.data());
  call.put_matrix(0, batch, a);
  call.put_info(1, batch, info);
}

template <class T>
void ormqr(SolverCall& call, int64_t batch) {
  const Vector<T> a = call.matrix<T>(0, batch), tau = call.vector<T>(1, batch);
  Vector<T> c = call.matrix<T>(2, batch);
  const char side = call.option("left", 1) != 0 ? 'L' : 'R';
  const char trans = call.option("transpose", 0) == 0 ? 'N' : kIsComplex<T> ? 'C' : 'T';
  lapack::ormqr(side, trans, call.rows(2), call.cols(2), static_cast<int>(tau.size()), a.data(), tau.data(),
                c.data());
  call.put_matrix(0, batch, c);
}

template <class T>
void syevd(SolverCall& call, int64_t batch) {
  Vector<T> a = call.matrix<T>(0, batch);
  Vector<Real<T>> w(static_cast<size_t>(call.rows(0)));
  const char job = static_cast<char>(call.option("mode", 'V'));
  const int info = lapack::syevd(job, call.uplo(), call.rows(0), a.data(), w.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, w);
  call.put_info(2, batch, info);
}

// Eigenvectors of a real matrix: a pair of conjugate eigenvalues has the real and the imaginary part in two
// columns.
template <class T>
Vector<std::complex<Real<T>>> unpacked(const Vector<T>& packed, [[maybe_unused]] const Vector<T>& wi) {
  if constexpr (kIsComplex<T>) {
    return packed;
  } else {
    const size_t n = wi.size();
    Vector<std::complex<T>> vectors(packed.begin(), packed.end());
    for (size_t j = 0; j + 1 < n; ++j) {
      if (wi[j] == 0) continue;
      for (size_t i = 0; i < n; ++i) {
        vectors[j * n + i] = {packed[j * n + i], packed[(j + 1) * n + i]};
        vectors[(j + 1) * n + i] = std::conj(vectors[j * n + i]);
      }
      ++j;
    }
    return vectors;
  }
}

template <class T>
void geev(SolverCall& call, int64_t batch) {
  const int n = call.rows(0);
  Vector<T> a = call.matrix<T>(0, batch), w(static_cast<size_t>(n)), wi(w), vl(area(n, n)), vr(area(n, n));
  const char left = static_cast<char>(call.option("compute_left", 'N'));
  const char right = static_cast<char>(call.option("compute_right", 'N'));
  const int info =
      all_finite(a) ? lapack::geev(left, right, n, a.data(), w.data(), wi.data(), vl.data(), vr.data()) : -4;
  size_t result = 0;
  call.put_vector(result++, batch, w);
  if constexpr (!kIsComplex<T>) call.put_vector(result++, batch, wi);
  call.put_matrix(result++, batch, unpacked(vl, wi));
  call.put_matrix(result++, batch, unpacked(vr, wi));
  call.put_info(result, batch, info);
}

template <class T>
void gees(SolverCall& call, int64_t batch) {
  const int n = call.rows(0);
  Vector<T> a = call.matrix<T>(0, batch), w(static_cast<size_t>(n)), wi(w), vs(area(n, n));
  const char job = static_cast<char>(call.option("mode", 'V'));
  const int info = lapack::gees(job, n, a.data(), w.data(), wi.data(), vs.data());
  size_t result = 0;
  call.put_matrix(result++, batch, a);
  call.put_matrix(result++, batch, vs);
  call.put_vector(result++, batch, w);
  if constexpr (!kIsComplex<T>) call.put_vector(result++, batch, wi);
  call.put_info(result++, batch, 0);  // none is sorted
  call.put_info(result, batch, info);
}

template <class T>
void gehrd(SolverCall& call, int64_t batch) {
  const int n = call.rows(0);
  Vector<T> a = call.matrix<T>(0, batch), tau(static_cast<size_t>(std::max(0, n - 1)));
  const int low = static_cast<int>(call.option("low", 1)), high = static_cast<int>(call.option("high", n));
  const int info = lapack::gehrd(n, low, high, a.data(), tau.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, tau);
  call.put_info(2, batch, info);
}

template <class T>
void sytrd(SolverCall& call, int64_t batch) {
  const int n = call.rows(0);
  const size_t last = static_cast<size_t>(std::max(0, n - 1));
  Vector<T> a = call.matrix<T>(0, batch), tau(last);
  Vector<Real<T>> d(static_cast<size_t>(n)), e(last);
  const int info = lapack::sytrd(call.uplo(), n, a.data(), d.data(), e.data(), tau.data());
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, d);
  call.put_vector(2, batch, e);
  call.put_vector(3, batch, tau);
  call.put_info(4, batch, info);
}

// The job of LAPACK's `mode`, or of `compute_uv` and `full_matrices`.
char svd_job(const SolverCall& call) {
  if (!call.has_option("compute_uv")) return static_cast<char>(call.option("mode", 'N'));
  return call.option("compute_uv", 0) == 0 ? 'N' : call.option("full_matrices", 0) != 0 ? 'A' : 'S';
}

template <class T>
void decompose(SolverCall& call, int64_t batch, bool divide, bool gives_v) {
  const int m = call.rows(0), n = call.cols(0), low = std::min(m, n);
  const char job = svd_job(call);
  const int vectors_u = job == 'A' ? m : low, vectors_v = job == 'A' ? n : low;
  Vector<T> a = call.matrix<T>(0, batch), u(area(m, vectors_u)), vt(area(vectors_v, n));
  Vector<Real<T>> s(static_cast<size_t>(low));
  const int info = low == 0 || all_finite(a)
                       ? lapack::svd(divide, job, m, n, a.data(), s.data(), u.data(), vt.data())
                       : -4;
  call.put_matrix(0, batch, a);
  call.put_vector(1, batch, s);
  call.put_info(4, batch, info);
  if (job == 'N') return;
  const bool swapped = call.option("transposed", 0) != 0;
  call.put_matrix(swapped ? 3 : 2, batch, u);
  if (!gives_v) return call.put_matrix(swapped ? 2 : 3, batch, vt);
  Vector<T> v(vt.size());
  for (int i = 0; i < vectors_v; ++i)
    for (int j = 0; j < n; ++j) {
      const T x = vt[area(j, vectors_v) + static_cast<size_t>(i)];
      if constexpr (kIsComplex<T>)
        v[area(i, n) + static_cast<size_t>(j)] = std::conj(x);
      else
        v[area(i, n) + static_cast<size_t>(j)] = x;
    }
  call.put_matrix(3, batch, v);
}

template <class T>
void gesdd(SolverCall& call, int64_t batch) {
  decompose<T>(call, batch, true, false);
}

template <class T>
void gesvd(SolverCall& call, int64_t batch) {
  decompose<T>(call, batch, false, false);
}

template <class T>
void gesvdj(SolverCall& call, int64_t batch) {
  decompose<T>(call, batch, true, true);
}

template <class T>
void trsm(SolverCall& call, int64_t batch) {
  const Vector<T> a = call.matrix<T>(0, batch);
  Vector<T> b = call.matrix<T>(1, batch);
  const char side = static_cast<char>(call.option("side", 'L'));
  const char trans = static_cast<char>(call.option("trans_x", 'N'));
  const char diag = static_cast<char>(call.option("diag", 'N'));
  lapack::trsm(side, call.uplo(), trans, diag, call.rows(1), call.cols(1), a.data(), b.data());
  call.put_matrix(0, batch, b);
}

// The first element of the lower and the last of the upper diagonal do not exist.
template <class T>
void solve_tridiagonal(SolverCall& call, int64_t batch, bool only_solution) {
  Vector<T> dl = call.vector<T>(0, batch), d = call.vector<T>(1, batch), du = call.vector<T>(2, batch),
            b = call.matrix<T>(3, batch);
  const int n = static_cast<int>(d.size());
  const int info = n == 0 ? 0 : lapack::gtsv(n, call.cols(3), dl.data() + 1, d.data(), du.data(), b.data());
  if (only_solution) return call.put_matrix(0, batch, b);
  call.put_vector(0, batch, dl);
  call.put_vector(1, batch, d);
  call.put_vector(2, batch, du);
  call.put_matrix(3, batch, b);
  call.put_info(4, batch, info);
}

template <class T>
void gtsv(SolverCall& call, int64_t batch) {
  solve_tridiagonal<T>(call, batch, false);
}

template <class T>
void gtsv2(SolverCall& call, int64_t batch) {
  solve_tridiagonal<T>(call, batch, true);
}

// Options and sizes that LAPACK would only check by a message of its own.
struct Letters {
  std::string_view routine, option, allowed;
  char usual;
};
constexpr Letters kLetters[] = {
    {"syevd", "mode", "VN", 'V'}, {"geev", "compute_left", "VN", 'N'}, {"geev", "compute_right", "VN", 'N'},
    {"gees", "mode", "VN", 'V'},  {"gesdd", "mode", "ASN", 'N'},       {"gesvd", "mode", "ASN", 'N'},
    {"trsm", "side", "LR", 'L'},  {"trsm", "trans_x", "NTC", 'N'},     {"trsm", "diag", "NU", 'N'},
};

Status check_call(const SolverCall& call, std::string_view routine, const Instruction& inst) {
  const auto wrong = [&](std::string_view what) { return unsupported(inst, std::string(what)); };
  const auto is_one_of = [](int64_t letter, std::string_view allowed) {
    return letter > 0 && letter < 128 && allowed.find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (!is_one_of(call.uplo(), "LU")) return wrong("option uplo is neither L nor U");
  for (const Letters& row : kLetters)
    if (row.routine == routine && !is_one_of(call.option(row.option, row.usual), row.allowed))
      return wrong(fmt::format("option {} is none of {}", row.option, row.allowed));
  if (routine == "orgqr" && (call.rows(0) < call.cols(0) || call.cols(1) > call.cols(0)))
    return wrong("more columns than rows, or more reflectors than columns");
  if (routine == "ormqr") {
    const int reflected = call.option("left", 1) != 0 ? call.rows(2) : call.cols(2);
    if (call.rows(0) != reflected || call.cols(1) > std::min(reflected, call.cols(0)))
      return wrong("reflectors and matrix differ in size");
  }
  if (routine == "geqp3" && call.cols(1) != call.cols(0))
    return wrong("one column number per column expected");
  if (routine == "trsm") {
    const bool left = call.option("side", 'L') == 'L';
    if (call.rows(0) != (left ? call.rows(1) : call.cols(1))) return wrong("matrices differ in size");
  }
  if (routine.starts_with("gtsv") &&
      (call.cols(0) != call.rows(3) || call.cols(1) != call.rows(3) || call.cols(2) != call.rows(3)))
    return wrong("diagonals and right side differ in size");
  const bool has_range = routine == "gehrd" && call.rows(0) > 0;
  if (has_range && (call.option("low", 1) < 1 || call.option("high", call.rows(0)) > call.rows(0) ||
                    call.option("low", 1) > call.option("high", call.rows(0))))
    return wrong("low and high are no range of rows");
  return Status::ok();
}

struct Routine {
  std::string_view name, operands;
  bool square;
  EvalFunction function;
};

#define ROUTINE(name, signature, square)                                                 \
  Result<Literal> eval_##name(Evaluator&, const Instruction& inst, Operands& operands) { \
    SolverCall call(inst, operands, signature, square);                                  \
    NCC_TRY(call.status());                                                              \
    NCC_TRY(check_call(call, #name, inst));                                              \
    for (int64_t batch = 0; batch < call.batches() && call.status().is_ok(); ++batch) {  \
      if (call.type() == Dtype::F32) name<float>(call, batch);                           \
      if (call.type() == Dtype::F64) name<double>(call, batch);                          \
      if (call.type() == Dtype::C64) name<std::complex<float>>(call, batch);             \
      if (call.type() == Dtype::C128) name<std::complex<double>>(call, batch);           \
    }                                                                                    \
    return call.take();                                                                  \
  }
#include "ir-formats/hlo/interpreter/solver_routines.def"

constexpr Routine kRoutines[] = {
#define ROUTINE(name, operands, square) {#name, operands, square, eval_##name},
#include "ir-formats/hlo/interpreter/solver_routines.def"
};

// LAPACK's names for complex types.
std::string_view real_name(std::string_view routine) {
  constexpr std::string_view kNames[][2] = {
      {"ungqr", "orgqr"}, {"unmqr", "ormqr"}, {"heevd", "syevd"}, {"hetrd", "sytrd"}, {"syevj", "syevd"}};
  for (const auto& row : kNames)
    if (row[0] == routine) return row[1];
  return routine;
}

}  // namespace

EvalFunction solver_function(std::string_view target) {
  constexpr std::string_view kLibraries[] = {"lapack_", "cusolver_", "hipsolver_", "cusparse_"};
  if (!target.ends_with("_ffi")) return nullptr;
  for (std::string_view library : kLibraries) {
    if (!target.starts_with(library)) continue;
    std::string_view routine = target.substr(library.size(), target.size() - library.size() - 4);
    if (library == "lapack_" && !routine.empty()) routine.remove_prefix(1);  // the element type's letter
    for (const Routine& row : kRoutines)
      if (row.name == real_name(routine)) return row.function;
  }
  return nullptr;
}

namespace {

Instruction with_target(const Instruction& inst, std::string_view config) {
  Instruction made;
  made.opcode = inst.opcode;
  made.name = inst.name;
  made.loc = inst.loc;
  made.shape = inst.shape;
  made.operands = inst.operands;
  made.mutable_attrs().custom_call_target = inst.attrs().custom_call_target;
  made.mutable_attrs().backend_config = std::string(config);
  return made;
}

// Rows in the order that the swaps of `pivots` (from 0) leave them in; a pivot that is no row swaps nothing.
Status permute(const Instruction& inst, const Literal& pivots, Literal& rows) {
  const int64_t swaps = pivots.shape().dims.empty() ? 0 : pivots.shape().dims.back();
  const int64_t count = rows.shape().dims.empty() ? 0 : rows.shape().dims.back();
  if (pivots.shape().dtype != Dtype::S32 || rows.shape().dtype != Dtype::S32 || swaps > count ||
      rows.num_elements() * swaps != pivots.num_elements() * count)
    return unsupported(inst, "pivots and permutation differ in shape");
  auto* to = reinterpret_cast<int32_t*>(rows.mutable_data());
  for (int64_t first = 0; first < rows.num_elements(); first += count) {
    for (int64_t i = 0; i < count; ++i) to[first + i] = static_cast<int32_t>(i);
    for (int64_t i = 0; i < swaps; ++i) {
      const int64_t with = pivots.as_int64(first / count * swaps + i);
      if (with >= 0 && with < count) std::swap(to[first + i], to[first + with]);
    }
  }
  return Status::ok();
}

}  // namespace

Result<Literal> call_qr(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  return eval_geqrf(evaluator, inst, operands);
}

Result<Literal> call_householder_product(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  return eval_orgqr(evaluator, inst, operands);
}

// (operand) -> (L and U, pivots from 0, permutation).
Result<Literal> call_lu_decomposition(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  if (!inst.shape.is_tuple() || inst.shape.elements.size() != 3)
    return unsupported(inst, "three results expected");
  Instruction factor = with_target(inst, "");
  factor.shape = Shape::make_tuple({inst.shape.elements[0], inst.shape.elements[1]});
  NCC_ASSIGN(const Literal factored, eval_getrf(evaluator, factor, operands));
  Literal pivots = factored.elements()[1];
  auto* from_zero = reinterpret_cast<int32_t*>(pivots.mutable_data());
  for (int64_t i = 0; i < pivots.num_elements(); ++i) --from_zero[i];
  Literal permutation = Literal::zeros(inst.shape.elements[2]);
  NCC_TRY(permute(inst, pivots, permutation));
  return Literal::make_tuple({factored.elements()[0], std::move(pivots), std::move(permutation)});
}

Result<Literal> call_lu_pivots_to_permutation(Evaluator&, const Instruction& inst, Operands& operands) {
  if (operands.empty() || operands[0].is_tuple() || !inst.shape.is_array())
    return unsupported(inst, "one operand and one result expected");
  Literal permutation = Literal::zeros(inst.shape);
  NCC_TRY(permute(inst, operands[0], permutation));
  return permutation;
}

// Config "lower,sort,sweeps,tolerance"; eigenvalues come sorted either way.
Result<Literal> call_eigh(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const bool lower = !inst.attrs().backend_config.starts_with("0");
  return eval_syevd(evaluator, with_target(inst, lower ? "{lower = true}" : "{lower = false}"), operands);
}

}  // namespace ncc::hlo
