#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/tools/hlo-opt/expand_math/sweep.h"

namespace ncc::hlo_opt::testing {
namespace {

using penguin::ScalarFunction;
using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();

double erf_inverse(double y) {
  if (std::isnan(y) || std::fabs(y) > 1) return NAN;
  if (std::fabs(y) == 1) return std::copysign(kInf, y);
  // Bisection on |y|, against erf below 1/2 and erfc above, then no further polish is needed in double.
  const double target = std::fabs(y);
  double low = 0, high = 7;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    const bool is_below = target < 0.5 ? std::erf(middle) < target : std::erfc(middle) > 1 - target;
    (is_below ? low : high) = middle;
  }
  return std::copysign(target < 1e-8 ? target * 0.886226925452758 : low, y);
}

double digamma(double x) {
  if (std::isnan(x) || x == -kInf) return NAN;
  if (x <= 0 && x == std::floor(x)) return NAN;
  if (x < 0) return digamma(1 - x) - M_PI / std::tan(M_PI * (x - std::round(x)));
  double sum = 0;
  for (; x < 30; ++x) sum -= 1 / x;
  const double s = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240)));
}

double zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q)) return NAN;
  if (s == 1) return kInf;
  if (s < 1) return NAN;
  double sum = 0, a = q;
  for (int k = 0; k < 40; ++k, ++a) sum += std::pow(a, -s);
  const double power = std::pow(a, -s);
  return sum + power * a / (s - 1) + 0.5 * power + power * s / (12 * a) -
         power * s * (s + 1) * (s + 2) / (720 * a * a * a) +
         power * s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * std::pow(a, 5));
}

double bessel_i1e(double x) {
  const double a = std::fabs(x);
  if (std::isnan(x)) return x;
  if (a > 600) return std::copysign(1 / std::sqrt(2 * M_PI * a) * (1 - 3 / (8 * a) - 15 / (128 * a * a)), x);
  return std::copysign(std::cyl_bessel_i(1.0, a) * std::exp(-a), x);
}

struct Unary {
  const char* name;
  ScalarFunction function;
  double (*truth)(double);
  int64_t f32_ulp;
};

TEST_CASE("special functions of one argument stay within 16 units in fp32", "[expand_math]") {
  const Unary rows[] = {
      {"erfc", ScalarFunction::Erfc, [](double x) { return std::erfc(x); }, 8},
      {"erf_inv", ScalarFunction::ErfInv, erf_inverse, 8},
      {"bessel_i1e", ScalarFunction::BesselI1e, bessel_i1e, 12},
  };
  for (const Unary& row : rows)
    for (Dtype type : kFloatTypes)
      check_float(
          row.name, {row.function, {sample_floats(type, 7, type != Dtype::F32)}, type, {}},
          [&](const Values& x) { return row.truth(x[0]); }, type == Dtype::F32 ? row.f32_ulp : 1);
}

// Next to a zero on the negative side the value is a difference of large logarithms; the sweep keeps to where
// it is well conditioned.
TEST_CASE("lgamma and digamma are accurate for positive arguments and at their zeros there",
          "[expand_math]") {
  for (Dtype type : kFloatTypes) {
    Array x = sample_floats(type, 9, type != Dtype::F32);
    std::erase_if(x.bits, [&](uint64_t bits) {
      return as_double(type, bits) < 0 && as_double(type, bits) != std::floor(as_double(type, bits));
    });
    const int64_t allowed = type == Dtype::F32 ? 16 : 1;
    check_float(
        "lgamma", {ScalarFunction::Lgamma, {x}, type, {}}, [](const Values& v) { return std::lgamma(v[0]); },
        allowed);
    check_float(
        "digamma", {ScalarFunction::Digamma, {x}, type, {}}, [](const Values& v) { return digamma(v[0]); },
        allowed);
  }
}

TEST_CASE("lgamma and digamma reflect for negative arguments", "[expand_math]") {
  std::vector<double> values;
  for (int i = 1; i < 400; ++i) values.push_back(-0.0371 * i);
  Array x = floats(Dtype::F32, values);
  auto check = [&](ScalarFunction function, double (*truth)(double)) {
    const Outcome outcome = run({function, {x}, Dtype::F32, {}}, *find_arch("trn1"));
    for (size_t i = 0; i < x.bits.size(); ++i) {
      const double expected = truth(as_double(Dtype::F32, x.bits[i]));
      INFO(as_double(Dtype::F32, x.bits[i]));
      // The terms that cancel are below 40; at the poles the argument's own rounding counts, which is exact
      // here.
      CHECK(as_double(Dtype::F32, outcome.result.bits[i]) ==
            Approx(expected).margin(40 * 0x1p-22).epsilon(0x1p-20));
    }
  };
  check(ScalarFunction::Lgamma, [](double v) { return std::lgamma(v); });
  check(ScalarFunction::Digamma, digamma);
}

TEST_CASE("zeta and polygamma follow their series", "[expand_math]") {
  std::vector<double> s, q, n;
  for (int i = 0; i < 60; ++i)
    for (int k = 1; k < 60; ++k) {
      s.push_back(1 + 0.37 * i);
      n.push_back(i % 12);
      q.push_back(0.23 * k);
    }
  const Array sa = floats(Dtype::F32, s), qa = floats(Dtype::F32, q), na = floats(Dtype::F32, n);
  check_float(
      "zeta", {ScalarFunction::Zeta, {sa, qa}, Dtype::F32, {}},
      [](const Values& x) { return zeta(x[0], x[1]); }, 16);
  check_float(
      "polygamma", {ScalarFunction::Polygamma, {na, qa}, Dtype::F32, {}},
      [](const Values& x) {
        if (x[0] == 0) return digamma(x[1]);
        const double sign = std::fmod(x[0], 2) == 0 ? -1 : 1;
        return sign * std::tgamma(x[0] + 1) * zeta(x[0] + 1, x[1]);
      },
      16);
  const Array bad_n = floats(Dtype::F32, {0.5, -1, 2, NAN}), one = floats(Dtype::F32, {1, 1, 0, 1});
  const Outcome outcome = run({ScalarFunction::Polygamma, {bad_n, one}, Dtype::F32, {}}, *find_arch("trn1"));
  CHECK(std::isnan(as_double(Dtype::F32, outcome.result.bits[0])));
  CHECK(std::isnan(as_double(Dtype::F32, outcome.result.bits[1])));
  CHECK(as_double(Dtype::F32, outcome.result.bits[2]) == -kInf);
  CHECK(std::isnan(as_double(Dtype::F32, outcome.result.bits[3])));
}

uint64_t neighbour(Dtype type, uint64_t x, uint64_t y) {
  const double from = as_double(type, x), to = as_double(type, y);
  const uint64_t sign = uint64_t{1} << (info(type).bits - 1);
  if (std::isnan(from) || std::isnan(to)) return floats(type, {NAN}).bits[0];
  if (from == to) return y;
  if (from == 0) return (y & sign) | 1;
  return (to > from) == (from > 0) ? x + 1 : x - 1;
}

TEST_CASE("next_after moves by one element of the type", "[expand_math]") {
  for (Dtype type : kFloatTypes) {
    const auto [a, b] = sample_float_pairs(type, 13);
    const Outcome outcome = run({ScalarFunction::NextAfter, {a, b}, type, {}}, *find_arch("trn1"));
    int wrong = 0;
    for (size_t i = 0; i < a.bits.size(); ++i) {
      const uint64_t expected = neighbour(type, a.bits[i], b.bits[i]);
      const bool both_nan =
          std::isnan(as_double(type, expected)) && std::isnan(as_double(type, outcome.result.bits[i]));
      wrong += !both_nan && expected != outcome.result.bits[i];
    }
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace ncc::hlo_opt::testing
