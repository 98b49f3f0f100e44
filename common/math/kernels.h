// Deterministic elementary functions: plain IEEE double arithmetic with explicit FMA, no libm, no table
// lookup and no branch, so that every CPU gives the same bits and a loop over an array vectorises (compile
// with -O3 -fno-math-errno -fno-trapping-math; never -ffast-math). Relative error below 1e-13 unless said
// otherwise: one rounding to fp32 then is within 1 ulp, and almost always the nearest. Arguments are any
// double that came from an fp32 value; NaN gives NaN. Source: DESIGN section 14, N1. Series are Taylor's;
// erfc uses a Chebyshev expansion computed for this file.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ncc::math::kernel {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLog2e = 0x1.71547652b82fep+0;
inline constexpr double kLn2High = 0x1.62e42f8p-1, kLn2Low = 0x1.be8e7bcd5e4f2p-27;
inline constexpr double kPiHigh = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
inline constexpr double kTwoOverSqrtPi = 0x1.20dd750429b6dp+0;
inline constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
inline constexpr double kOneOverSqrtTwoPi = 0x1.9884533d43651p-2, kSqrtTwoOverPi = 0x1.9884533d43651p-1;
// Adding and subtracting it rounds a small double to an integer, which then stands in the low mantissa bits.
inline constexpr double kRounder = 0x1.8p52;

inline double clamp(double x, double low, double high) {
  const double above = x < low ? low : x;  // NaN passes
  return above > high ? high : above;
}
inline double copysign(double magnitude, double sign) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(magnitude) & ~kSign) |
                               (std::bit_cast<uint64_t>(sign) & kSign));
}
inline double abs(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~(uint64_t{1} << 63));
}

template <int N>
inline double polynomial(const double (&c)[N], double x) {
  double sum = c[N - 1];
#pragma GCC unroll 32
  for (int i = N - 2; i >= 0; --i) sum = std::fma(sum, x, c[i]);
  return sum;
}

/// 2^k for a rounded value k + kRounder, |k| <= 1022.
inline double power_of_two(double rounder_plus_k) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(rounder_plus_k) << 52) + (uint64_t{1023} << 52));
}

/// exp(r) - 1 for |r| <= ln2 / 2.
inline double expm1_reduced(double r) {
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,       1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  return std::fma(r * r, polynomial(kSeries, r), r);
}
struct Reduced {
  double rounder_plus_k, r;  // x = k ln2 + r
};
inline Reduced reduce_ln2(double x) {
  const double shifted = std::fma(x, kLog2e, kRounder);
  const double k = shifted - kRounder;
  return {shifted, std::fma(-k, kLn2Low, std::fma(-k, kLn2High, x))};
}

/// Any x; overflows to infinity, underflows through subnormals to 0.
inline double exp(double x) {
  const Reduced reduced = reduce_ln2(clamp(x, -760.0, 760.0));
  // Two factors, so that 2^k may leave the normal range.
  const double k = reduced.rounder_plus_k - kRounder;
  const double half = std::fma(k, 0.5, kRounder);
  const double rest = (k - (half - kRounder)) + kRounder;
  return (1.0 + expm1_reduced(reduced.r)) * power_of_two(half) * power_of_two(rest);
}
/// x in [-700, 700] or NaN.
inline double expm1(double x) {
  const Reduced reduced = reduce_ln2(x);
  const double scale = power_of_two(reduced.rounder_plus_k);
  return std::fma(scale, expm1_reduced(reduced.r), scale - 1.0);
}

/// 2 atanh(s) = log((1 + s) / (1 - s)) for |s| <= 0.172.
inline double log_ratio(double s) {
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double s2 = s * s;
  return std::fma(s * s2, polynomial(kSeries, s2), 2.0 * s);
}
/// log of a normal double; 0 gives -inf, negative NaN.
inline double log(double x) {
  constexpr uint64_t kBias = uint64_t{1024} << 52;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t biased = (bits - std::bit_cast<uint64_t>(kSqrtHalf) + kBias) >> 52;  // k + 1024
  const double k = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 1024.0);
  const double m =
      std::bit_cast<double>(bits - (biased << 52) + kBias);  // x = 2^k m, m in [sqrt(1/2), sqrt(2))
  const double f = m - 1.0;
  const double result = std::fma(k, kLn2High, std::fma(k, kLn2Low, log_ratio(f / (2.0 + f))));
  const double special = x == 0.0 ? -kInfinity : x > 0.0 ? x : kNan;  // +inf stays
  return x > 0.0 && x < kInfinity ? result : special;
}
/// log(1 + y) for y in [0, 1].
inline double log1p_unit(double y) {
  // One halving keeps the series short: 1 + y = (3/2) (1 + z), |z| <= 1/3, used only where y > 1/2.
  constexpr double kLogThreeHalves = 0x1.9f323ecbf984cp-2;
  const double numerator = y > 0.5 ? y - 0.5 : y;
  const double denominator = y > 0.5 ? y + 2.5 : y + 2.0;
  const double s = numerator / denominator;  // at most 0.2
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double s2 = s * s;
  const double series = std::fma(s * s2, polynomial(kSeries, s2), 2.0 * s);
  return y > 0.5 ? series + kLogThreeHalves : series;
}

inline double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
inline double tanh(double x) {
  const double e = expm1(2.0 * clamp(abs(x), 0.0, 20.0));
  return copysign(e / (e + 2.0), x);
}
/// log(1 + exp(x)).
inline double softplus(double x) { return log1p_unit(exp(-abs(x))) + (x > 0.0 ? x : 0.0); }

/// exp(z^2) erfc(z) for z >= 0: Chebyshev expansion of (1 + 2z) exp(z^2) erfc(z) in (z - 3.75) / (z + 3.75).
inline double scaled_erfc(double z) {
  constexpr double kSeries[] = {
      0x1.3ccda0b5d5dc2p+0,  -0x1.1f367683f8967p-3,  0x1.d5f294816277ep-9,   0x1.510169d093c18p-4,
      -0x1.bda9309a35871p-4, 0x1.7a14188ae18fap-4,   -0x1.e0d0fa6c16f3fp-5,  0x1.d0b0037036098p-6,
      -0x1.3f603c7e65d24p-7, 0x1.cc3a13daa5d95p-10,  0x1.33fb5a5e7ca14p-12,  -0x1.303ffbfe45e88p-12,
      0x1.b13e13fe20445p-15, 0x1.7799dcd2368cbp-16,  -0x1.7fcc159f9a760p-17, -0x1.06de6954a39b5p-20,
      0x1.d39c1a3875509p-20, -0x1.b4c0937b25a0bp-25, -0x1.0ae6bf9452a1fp-22, 0x1.42d2ea1df7aecp-26,
      0x1.12b326b5668bfp-25, -0x1.0cb63a80de2c5p-29, -0x1.6884628ace07ap-29};
  return polynomial(kSeries, (z - 3.75) / (z + 3.75)) / (1.0 + 2.0 * z);
}
inline double erfc(double x) {
  const double z = clamp(abs(x), 0.0, 28.0);  // exp(-784) is 0
  const double tail = exp(-z * z) * scaled_erfc(z);
  return x < 0.0 ? 2.0 - tail : tail;
}
inline double erf(double x) {
  constexpr double kSeries[] = {1.0,
                                -1.0 / 3,
                                1.0 / 10,
                                -1.0 / 42,
                                1.0 / 216,
                                -1.0 / 1320,
                                1.0 / 9360,
                                -1.0 / 75600,
                                1.0 / 685440,
                                -1.0 / 6894720,
                                1.0 / 76204800,
                                -1.0 / 918086400,
                                1.0 / 11975040000};
  const double small = x * (kTwoOverSqrtPi * polynomial(kSeries, x * x));
  const double large = copysign(1.0 - erfc(abs(x)), x);
  return abs(x) < 0.5 ? small : large;
}

/// sin for |x| <= 4.
inline double sin(double x) {
  constexpr double kSeries[] = {-1.0 / 6,
                                1.0 / 120,
                                -1.0 / 5040,
                                1.0 / 362880,
                                -1.0 / 39916800,
                                1.0 / 6227020800,
                                -1.0 / 1307674368000,
                                1.0 / 355687428096000,
                                -1.0 / 121645100408832000.0,
                                1.0 / 51090942171709440000.0};
  const double shifted = std::fma(x, 1.0 / kPiHigh, kRounder);
  const double n = shifted - kRounder;
  const double r = std::fma(-n, kPiLow, std::fma(-n, kPiHigh, x));
  const uint64_t odd = std::bit_cast<uint64_t>(shifted) << 63;  // (-1)^n as a sign bit
  const double value = std::fma(r * (r * r), polynomial(kSeries, r * r), r);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ odd);
}
/// Any x; two half-angle steps bring the series' argument to at most tan(pi / 8).
inline double atan(double x) {
  constexpr double kSeries[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11, 1.0 / 13,
                                -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25};
  const double big = clamp(x, -0x1p100, 0x1p100);
  const double half = big / (1.0 + std::sqrt(std::fma(big, big, 1.0)));  // tan of half the angle, at most 1
  const double quarter = half / (1.0 + std::sqrt(std::fma(half, half, 1.0)));
  const double t = quarter / (1.0 + std::sqrt(std::fma(quarter, quarter, 1.0)));
  const double t2 = t * t;
  return 8.0 * std::fma(t * t2, polynomial(kSeries, t2), t);
}

/// IEEE 754 pow, relative error below 1e-11 in the range of fp32 results.
inline double pow(double x, double y) {
  const double magnitude = exp(y * log(abs(x)));
  const double floor_y = std::floor(y);
  const bool y_integer = floor_y == y;  // infinities count as even integers
  const bool y_odd = y_integer && abs(y) < 0x1p53 && std::floor(y * 0.5) * 2.0 != y;
  const double signed_value = y_odd ? copysign(magnitude, x) : magnitude;
  const double value = x < 0.0 && x > -kInfinity && !y_integer ? kNan : signed_value;
  const bool one = y == 0.0 || x == 1.0 || (x == -1.0 && abs(y) == kInfinity);
  return one ? 1.0 : value;
}

// Activation functions of spec/simulator-numerics.md §6.1, in forms without cancellation.
inline double mish(double v) {
  const double e = exp(clamp(v, -800.0, 40.0));
  const double n = e * (e + 2.0);  // tanh(log(1 + e)) = n / (n + 2)
  return v * (n / (n + 2.0));
}
inline double gelu(double v) { return 0.5 * v * erfc(-v * kSqrtHalf); }
inline double gelu_tanh(double v) {
  return v * sigmoid(2.0 * kSqrtTwoOverPi * v * std::fma(0.044715 * v, v, 1.0));
}
inline double gelu_sigmoid(double v) { return v * sigmoid(1.702 * v); }
inline double silu(double v) { return v * sigmoid(v); }
/// d/dv v sigmoid(v).
inline double silu_derivative(double v) {
  const double s = sigmoid(v);
  return s * std::fma(v, sigmoid(-v), 1.0);
}
inline double gelu_derivative(double v) {
  return std::fma(kOneOverSqrtTwoPi * v, exp(-0.5 * v * v), 0.5 * erfc(-v * kSqrtHalf));
}
inline double erf_derivative(double v) { return kTwoOverSqrtPi * exp(-v * v); }

}  // namespace ncc::math::kernel
