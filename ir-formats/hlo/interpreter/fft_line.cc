#include "ir-formats/hlo/interpreter/fft_line.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace ncc::hlo {
namespace {

template <class T>
Point<T> operator+(Point<T> a, Point<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Point<T> operator-(Point<T> a, Point<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
Point<T> operator*(T a, Point<T> b) {
  return {a * b.re, a * b.im};
}
// y times w, or times its conjugate on the way forward.
template <class T>
Point<T> turned(Point<T> y, Point<T> w, bool forward) {
  if (forward) return {y.re * w.re + y.im * w.im, y.im * w.re - y.re * w.im};
  return {y.re * w.re - y.im * w.im, y.re * w.im + y.im * w.re};
}
// A quarter turn: -i z forward, i z backward.
template <class T>
Point<T> quarter(Point<T> z, bool forward) {
  return forward ? Point<T>{z.im, -z.re} : Point<T>{-z.im, z.re};
}
template <class T>
constexpr T kSqrtHalf = static_cast<T>(std::numbers::sqrt2_v<long double> / 2);
// An eighth turn, and three of them.
template <class T>
Point<T> eighth(Point<T> z, bool forward) {
  return forward ? Point<T>{kSqrtHalf<T> * (z.re + z.im), kSqrtHalf<T> * (z.im - z.re)}
                 : Point<T>{kSqrtHalf<T> * (z.re - z.im), kSqrtHalf<T> * (z.im + z.re)};
}
template <class T>
Point<T> three_eighths(Point<T> z, bool forward) {
  return forward ? Point<T>{kSqrtHalf<T> * (z.im - z.re), kSqrtHalf<T> * (-z.re - z.im)}
                 : Point<T>{kSqrtHalf<T> * (-z.re - z.im), kSqrtHalf<T> * (z.re - z.im)};
}

std::vector<int64_t> factors_of(int64_t n, std::vector<int64_t> powers) {
  std::vector<int64_t> factors;
  for (int64_t power : powers)
    for (; n % power == 0; n /= power) factors.push_back(power);
  if (n % 2 == 0) {
    n /= 2;
    factors.push_back(2);
    std::swap(factors.front(), factors.back());
  }
  for (int64_t odd = 3; odd * odd <= n; odd += 2)
    for (; n % odd == 0; n /= odd) factors.push_back(odd);
  if (n > 1) factors.push_back(n);
  return factors;
}

// exp(2 pi i k / n) from an argument in the first eighth of the circle. `step` is pi / (4 n).
Point<double> root_in_octant(int64_t k, int64_t n, double step) {
  k *= 8;
  const bool lower = k >= 4 * n;  // below the real axis: the conjugate of the mirrored one
  if (lower) k = 8 * n - k;
  const bool left = k >= 2 * n;
  if (left) k -= 2 * n;
  const bool steep = k >= n;
  const double angle = static_cast<double>(steep ? 2 * n - k : k) * step;
  Point<double> z{steep ? std::sin(angle) : std::cos(angle), steep ? std::cos(angle) : std::sin(angle)};
  if (left) z = {-z.im, z.re};
  if (lower) z.im = -z.im;
  return z;
}

// start + term(1) + … + term(h), joined by groups.
template <class T, class Term>
Point<T> grouped_sum(Point<T> start, bool has_start, int64_t h, int64_t group, const Term& term) {
  Point<T> sum = has_start ? start + term(1) : term(1);
  int64_t j = 2;
  if (j <= h) sum = sum + term(j++);
  for (int64_t size : {int64_t{4}, int64_t{2}}) {
    for (; size <= group && j + size - 1 <= h; j += size) {
      Point<T> part = term(j);
      for (int64_t i = 1; i < size; ++i) part = part + term(j + i);
      sum = sum + part;
    }
  }
  for (; j <= h; ++j) sum = sum + term(j);
  return sum;
}

}  // namespace

template <class T>
FftLine<T>::FftLine(int64_t n)
    : n_(n), complex_factors_(factors_of(n, {8, 4})), real_factors_(factors_of(n, {4})) {
  const double step =
      static_cast<double>(0.25L * std::numbers::pi_v<long double> / static_cast<long double>(n));
  const int64_t needed = (n + 2) / 2;
  while ((int64_t{1} << (2 * shift_)) < needed) ++shift_;
  const int64_t m = int64_t{1} << shift_;
  for (int64_t k = 0; k < m; ++k) fine_.push_back(k == 0 ? Point<double>{1, 0} : root_in_octant(k, n, step));
  for (int64_t k = 0; k < (needed + m - 1) / m; ++k)
    coarse_.push_back(k == 0 ? Point<double>{1, 0} : root_in_octant(k * m, n, step));
}

template <class T>
Point<T> FftLine<T>::root(int64_t k) const {
  const bool mirrored = 2 * k > n_;
  if (mirrored) k = n_ - k;
  const Point<double> a = fine_[static_cast<size_t>(k & ((int64_t{1} << shift_) - 1))],
                      b = coarse_[static_cast<size_t>(k >> shift_)];
  const T re = static_cast<T>(a.re * b.re - a.im * b.im), im = static_cast<T>(a.re * b.im + a.im * b.re);
  return {re, mirrored ? -im : im};
}

template <class T>
Point<T> FftLine<T>::factor_root(int64_t k, int64_t p, const Sums& sums) const {
  if (!sums.exact_roots) return root(k * (n_ / p));
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(p);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

// Sums and differences of opposite inputs carry the cosines and the sines.
template <class T>
void FftLine<T>::odd_butterfly(std::vector<Point<T>>& x, bool forward, const Sums& sums) const {
  const int64_t p = static_cast<int64_t>(x.size()), h = p / 2;
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  std::vector<Point<T>> plus(at(h + 1)), minus(at(h + 1)), roots(at(p)), y(at(p));
  for (int64_t j = 1; j <= h; ++j) {
    plus[at(j)] = x[at(j)] + x[at(p - j)];
    minus[at(j)] = x[at(j)] - x[at(p - j)];
  }
  for (int64_t k = 1; k < p; ++k) roots[at(k)] = factor_root(k, p, sums);
  y[0] = grouped_sum(x[0], true, h, 1, [&](int64_t j) { return plus[at(j)]; });
  for (int64_t l = 1; l <= h; ++l) {
    const Point<T> even = grouped_sum(x[0], true, h, sums.group,
                                      [&](int64_t j) { return roots[at(l * j % p)].re * plus[at(j)]; });
    const Point<T> odd = grouped_sum(Point<T>{}, false, h, sums.group,
                                     [&](int64_t j) { return roots[at(l * j % p)].im * minus[at(j)]; });
    const Point<T> turn = quarter(odd, forward);
    y[at(l)] = even + turn;
    y[at(p - l)] = even - turn;
  }
  x = std::move(y);
}

template <class T>
void FftLine<T>::butterfly(std::vector<Point<T>>& x, bool forward, const Sums& sums) const {
  switch (x.size()) {
    case 2:
      x = {x[0] + x[1], x[0] - x[1]};
      return;
    case 4: {
      const Point<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = quarter(x[1] - x[3], forward);
      x = {a + c, b + d, a - c, b - d};
      return;
    }
    case 8: {
      const Point<T> a1 = x[1] + x[5], a5 = x[1] - x[5], a3 = x[3] + x[7], a7 = quarter(x[3] - x[7], forward);
      const Point<T> b1 = a1 + a3, b3 = quarter(a1 - a3, forward);
      const Point<T> b5 = eighth(a5 + a7, forward), b7 = three_eighths(a5 - a7, forward);
      const Point<T> a0 = x[0] + x[4], a4 = x[0] - x[4], a2 = x[2] + x[6], a6 = quarter(x[2] - x[6], forward);
      const Point<T> c0 = a0 + a2, c2 = a0 - a2, c4 = a4 + a6, c6 = a4 - a6;
      x = {c0 + b1, c4 + b5, c2 + b3, c6 + b7, c0 - b1, c4 - b5, c2 - b3, c6 - b7};
      return;
    }
    default:
      odd_butterfly(x, forward, sums);
  }
}

template <class T>
void FftLine<T>::complex(Point<T>* line, bool forward) const {
  std::vector<Point<T>> from(line, line + n_), to(from.size()), x;
  int64_t l1 = 1;
  for (int64_t p : complex_factors_) {
    const int64_t inner = n_ / (l1 * p);
    const Sums sums = p < 13 ? Sums{1, true} : Sums{2, false};
    for (int64_t k = 0; k < l1; ++k) {
      for (int64_t i = 0; i < inner; ++i) {
        x.resize(static_cast<size_t>(p));
        for (int64_t b = 0; b < p; ++b)
          x[static_cast<size_t>(b)] = from[static_cast<size_t>(i + inner * (b + p * k))];
        butterfly(x, forward, sums);
        for (int64_t u = 0; u < p; ++u) {
          const Point<T> y = x[static_cast<size_t>(u)];
          to[static_cast<size_t>(i + inner * (k + l1 * u))] =
              u == 0 || i == 0 ? y : turned(y, root(u * l1 * i), forward);
        }
      }
    }
    std::swap(from, to);
    l1 *= p;
  }
  std::copy(from.begin(), from.end(), line);
}

namespace {

// Frequency f of a block of `size` numbers.
template <class T>
Point<T> frequency(const T* block, int64_t size, int64_t f) {
  if (f == 0) return {block[0], 0};
  if (2 * f == size) return {block[size - 1], 0};
  if (2 * f < size) return {block[2 * f - 1], block[2 * f]};
  return {block[2 * (size - f) - 1], -block[2 * (size - f)]};
}

template <class T>
void set_frequency(T* block, int64_t size, int64_t f, Point<T> z) {
  if (f == 0) {
    block[0] = z.re;
  } else if (2 * f == size) {
    block[size - 1] = z.re;
  } else {
    if (2 * f > size) {
      f = size - f;
      z.im = -z.im;
    }
    block[2 * f - 1] = z.re;
    block[2 * f] = z.im;
  }
}

}  // namespace

// The middle frequency of an even inner length (factors 2 and 4 alone): its results are real, an eighth turn
// apart.
template <class T>
void FftLine<T>::middle_frequency(const T* from, T* to, int64_t p, int64_t l1, int64_t k,
                                  bool forward) const {
  const int64_t inner = n_ / (l1 * p), block = p * inner;
  const auto part = [&](int64_t u) { return inner * (k + l1 * u) + inner - 1; };
  constexpr T kSqrt2 = static_cast<T>(std::numbers::sqrt2_v<long double>);
  if (forward) {
    T* out = to + k * block;
    if (p == 2) {
      out[inner] = -from[part(1)];
      out[inner - 1] = from[part(0)];
      return;
    }
    const T im = -kSqrtHalf<T> * (from[part(1)] + from[part(3)]),
            re = kSqrtHalf<T> * (from[part(1)] - from[part(3)]);
    out[inner - 1] = from[part(0)] + re;
    out[3 * inner - 1] = from[part(0)] - re;
    out[3 * inner] = im + from[part(2)];
    out[inner] = im - from[part(2)];
    return;
  }
  const T* in = from + k * block;
  if (p == 2) {
    to[part(0)] = 2 * in[inner - 1];
    to[part(1)] = -2 * in[inner];
    return;
  }
  const T im_sum = in[3 * inner] + in[inner], im_difference = in[3 * inner] - in[inner];
  const T re_sum = in[inner - 1] + in[3 * inner - 1], re_difference = in[inner - 1] - in[3 * inner - 1];
  to[part(0)] = re_sum + re_sum;
  to[part(1)] = kSqrt2 * (re_difference - im_sum);
  to[part(2)] = im_difference + im_difference;
  to[part(3)] = -kSqrt2 * (re_difference + im_sum);
}

// Forward: the spectra of p parts of `inner` numbers become one of p * inner; backward the other way.
template <class T>
void FftLine<T>::real_pass(const T* from, T* to, int64_t p, int64_t l1, bool forward) const {
  const int64_t inner = n_ / (l1 * p), block = p * inner;
  const Sums sums = p <= 5 ? Sums{1, true} : Sums{4, false};
  std::vector<Point<T>> x;
  for (int64_t k = 0; k < l1; ++k) {
    for (int64_t q = 0; 2 * q < inner || q == 0; ++q) {
      x.resize(static_cast<size_t>(p));
      for (int64_t j = 0; j < p; ++j) {
        Point<T>& z = x[static_cast<size_t>(j)];
        z = forward ? frequency(from + inner * (k + l1 * j), inner, q)
                    : frequency(from + k * block, block, q + j * inner);
        if (forward && j > 0 && q > 0) z = turned(z, root(j * l1 * q), true);
      }
      butterfly(x, forward, sums);
      for (int64_t j = 0; j < p; ++j) {
        Point<T> z = x[static_cast<size_t>(j)];
        if (forward) {
          if (q > 0 || 2 * j <= p) set_frequency(to + k * block, block, q + j * inner, z);
          continue;
        }
        if (j > 0 && q > 0) z = turned(z, root(j * l1 * q), false);
        set_frequency(to + inner * (k + l1 * j), inner, q, z);
      }
    }
    if (inner % 2 == 0) middle_frequency(from, to, p, l1, k, forward);
  }
}

template <class T>
void FftLine<T>::real_forward(const T* line, Point<T>* spectrum) const {
  std::vector<T> from(line, line + n_), to(from.size());
  int64_t l1 = n_;
  for (size_t f = real_factors_.size(); f-- > 0;) {
    l1 /= real_factors_[f];
    real_pass(from.data(), to.data(), real_factors_[f], l1, true);
    std::swap(from, to);
  }
  for (int64_t f = 0; f <= n_ / 2; ++f) spectrum[f] = frequency(from.data(), n_, f);
}

template <class T>
void FftLine<T>::real_backward(const Point<T>* spectrum, T* line) const {
  std::vector<T> from(static_cast<size_t>(n_)), to(from.size());
  for (int64_t f = 0; f <= n_ / 2; ++f) set_frequency(from.data(), n_, f, spectrum[f]);
  int64_t l1 = 1;
  for (int64_t p : real_factors_) {
    real_pass(from.data(), to.data(), p, l1, false);
    std::swap(from, to);
    l1 *= p;
  }
  std::copy(from.begin(), from.end(), line);
}

template class FftLine<float>;
template class FftLine<double>;

}  // namespace ncc::hlo
