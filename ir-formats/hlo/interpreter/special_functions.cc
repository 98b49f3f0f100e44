#include "ir-formats/hlo/interpreter/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace ncc::hlo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr long double kPi = std::numbers::pi_v<long double>;

// B_2k for k = 1…: the coefficients of the Euler-Maclaurin and Stirling expansions.
constexpr long double kBernoulli[] = {
    1.0L / 6, -1.0L / 30,     1.0L / 42,      -1.0L / 30,       5.0L / 66,       -691.0L / 2730,
    7.0L / 6, -3617.0L / 510, 43867.0L / 798, -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730,
};

// Tail of 1 - erf for the Newton iteration, exact in both halves.
long double first_guess(long double y) {
  // Winitzki's closed form: 2e-3 relative everywhere, enough for Halley steps to converge.
  constexpr long double a = 0.147L;
  const long double l = std::log1p(-y * y);
  const long double t = 2 / (kPi * a) + l / 2;
  return std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
}

}  // namespace

double erf_inv(double y) {
  if (std::isnan(y) || std::fabs(y) > 1) return kNan;
  if (y == 1 || y == -1) return std::copysign(kInf, y);
  if (y == 0) return y;
  const long double magnitude = std::fabs(static_cast<long double>(y));
  // erf(x) = x 2/sqrt(pi) (1 - x^2/3 …): below this the next term is under half an ulp.
  if (magnitude < 1e-10L) return static_cast<double>(y * std::sqrt(kPi) / 2);
  long double x = first_guess(magnitude);
  for (int step = 0; step < 4; ++step) {
    // erf(x) - y without cancellation near y = 1, where 1 - y is exact.
    const long double difference =
        magnitude > 0.5L ? (1 - magnitude) - std::erfc(x) : std::erf(x) - magnitude;
    const long double newton = difference / (2 / std::sqrt(kPi) * std::exp(-x * x));
    x -= newton / (1 + x * newton);  // Halley: f''/f' = -2x
  }
  return static_cast<double>(std::copysign(x, static_cast<long double>(y)));
}

double log_gamma(double x) {
  if (std::isinf(x)) return kInf;
  if (x <= 0 && x == std::floor(x)) return kInf;
  int sign;
  return static_cast<double>(::lgammal_r(x, &sign));
}

double digamma(double x) {
  if (std::isnan(x) || x == -kInf) return kNan;
  if (x == kInf) return kInf;
  if (x <= 0 && x == std::floor(x)) return kNan;
  long double z = x, result = 0;
  if (z < 0.5L) {  // reflection, with the argument of tan reduced first
    const long double fraction = z - std::floor(z);
    result -= kPi / std::tan(kPi * fraction);
    z = 1 - z;
  }
  for (; z < 16; z += 1) result -= 1 / z;
  result += std::log(z) - 1 / (2 * z);
  const long double inverse_square = 1 / (z * z);
  long double power = inverse_square;
  for (int k = 1; k <= 10; ++k, power *= inverse_square) result -= kBernoulli[k - 1] / (2 * k) * power;
  return static_cast<double>(result);
}

double zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q)) return kNan;
  if (x == 1) return kInf;
  if (x < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return std::fmod(x, 2) == 0 ? kInf : kNan;
    if (x != std::floor(x)) return kNan;
  }
  // Euler-Maclaurin: the terms before q + N are summed, the rest is integral + half term + Bernoulli terms.
  const long double s = x;
  long double sum = 0, a = q;
  for (int terms = 0; terms < 16 || a < 16; ++terms, a += 1) sum += std::pow(a, -s);
  sum += std::pow(a, 1 - s) / (s - 1) + std::pow(a, -s) / 2;
  long double factor = s * std::pow(a, -s - 1) / 2;  // s (s+1) … a^(-s-2k+1) / (2k)!
  for (int k = 1; k <= 12; ++k) {
    const long double term = kBernoulli[k - 1] * factor;
    sum += term;
    if (std::fabs(term) < std::fabs(sum) * 1e-20L) break;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (a * a * (2 * k + 1) * (2 * k + 2));
  }
  return static_cast<double>(sum);
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n < 0 || n != std::floor(n)) return kNan;
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return static_cast<double>(sign * std::tgamma(static_cast<long double>(n) + 1) *
                             static_cast<long double>(zeta(n + 1, x)));
}

double bessel_i1e(double x) {
  if (std::isnan(x)) return x;
  const long double z = std::fabs(static_cast<long double>(x));
  long double value;
  if (z < 40) {  // power series: all terms positive
    const long double quarter = z * z / 4;
    long double term = z / 2, sum = term;
    for (int k = 1; term > sum * 1e-21L; ++k) {
      term *= quarter / (static_cast<long double>(k) * (k + 1));
      sum += term;
    }
    value = sum * std::exp(-z);
  } else {  // Hankel's expansion with mu = 4
    long double term = 1, sum = 1;
    for (int k = 1; k < 60; ++k) {
      const long double odd = 2 * k - 1;
      term *= -(4 - odd * odd) / (k * 8 * z);
      sum += term;
      if (std::fabs(term) < 1e-21L) break;
    }
    value = std::isinf(x) ? 0 : sum / std::sqrt(2 * kPi * z);
  }
  return static_cast<double>(std::copysign(value, static_cast<long double>(x)));
}

}  // namespace ncc::hlo
