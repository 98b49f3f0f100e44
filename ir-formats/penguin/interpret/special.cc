#include "ir-formats/penguin/interpret/special.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace ncc::penguin::special {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.14159265358979323846;
// Bernoulli numbers B2, B4, …
constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                 5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

}  // namespace

double bessel_i1e(double x) {
  const double z = std::fabs(x);
  if (std::isnan(x)) return x;
  if (z > 30) {  // asymptotic series in 1 / 8z
    double term = 1, sum = 1;
    for (int k = 1; k < 25; ++k) {
      const double next = term * -(4.0 - (2 * k - 1.0) * (2 * k - 1.0)) / (k * 8 * z);
      if (std::fabs(next) > std::fabs(term)) break;
      term = next;
      sum += term;
    }
    return std::copysign(sum / std::sqrt(2 * kPi * z), x);
  }
  double term = z / 2, sum = term;
  for (int k = 1; k < 200 && term > sum * 1e-18; ++k) {
    term *= z * z / 4 / (k * (k + 1.0));
    sum += term;
  }
  return std::copysign(sum * std::exp(-z), x);
}

double digamma(double x) {
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    return digamma(1 - x) - kPi / std::tan(kPi * x);
  }
  double result = 0;
  for (; x < 12; x += 1) result -= 1 / x;
  result += std::log(x) - 0.5 / x;
  double power = 1 / (x * x);
  for (int k = 0; k < 7; ++k, power /= x * x) result -= kBernoulli[k] / (2 * k + 2) * power;
  return result;
}

double erf_inv(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  const double w = -std::log1p(-x * x);
  // A start of a few digits (Winitzki's form), then Newton on erfc of the smaller tail.
  const double a = 0.147, b = 2 / (kPi * a) - w / 2;
  double y = std::sqrt(std::sqrt(b * b + w / a) - b);
  const double target = std::fabs(x);
  for (int i = 0; i < 4; ++i) {
    const double residual = target < 0.5 ? std::erf(y) - target : (1 - target) - std::erfc(y);
    y -= residual / (2 / std::sqrt(kPi) * std::exp(-y * y));
  }
  return std::copysign(y, x);
}

double lgamma(double x) {
  int sign = 0;
  return std::isinf(x) ? kInfinity : lgamma_r(x, &sign);
}

double hurwitz_zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return kNan;
  if (s == 1) return kInfinity;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (s != std::floor(s)) return kNan;
  }
  // Euler-Maclaurin after the first terms.
  double sum = 0;
  int steps = 0;
  for (; steps < 12 || q < 12; ++steps, q += 1) sum += std::pow(q, -s);
  sum += std::pow(q, 1 - s) / (s - 1) + 0.5 * std::pow(q, -s);
  double factor = s, power = std::pow(q, -s - 1), factorial = 2;
  for (int k = 0; k < 8; ++k) {
    sum += kBernoulli[k] * factor * power / factorial;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    power /= q * q;
    factorial *= (2.0 * k + 3) * (2.0 * k + 4);
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n < 0 || n != std::floor(n)) return kNan;
  if (n == 0) return digamma(x);
  const double sign = std::fmod(n, 2) == 1 ? 1 : -1;
  return sign * std::exp(lgamma(n + 1)) * hurwitz_zeta(n + 1, x);
}

double next_after(Dtype dtype, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a == b) return b;
  // Bits of a float of any width, as a sign-magnitude number.
  uint64_t bits = 0, smallest = 1;
  const int width = info(dtype).bits;
  const uint64_t sign = uint64_t{1} << (width - 1);
  store_from_double(dtype, &bits, a);
  if (a == 0) {
    bits = smallest | (b < 0 ? sign : 0);
  } else {
    const bool away = (b > a) == (a > 0);
    bits += away ? 1 : ~uint64_t{0};
  }
  return load_as_double(dtype, &bits);
}

}  // namespace ncc::penguin::special
