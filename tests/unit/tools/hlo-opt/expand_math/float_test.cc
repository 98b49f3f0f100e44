#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/tools/hlo-opt/expand_math/sweep.h"

namespace ncc::hlo_opt::testing {
namespace {

using penguin::ScalarFunction;
using Truth1 = double (*)(double);
using Truth2 = double (*)(double, double);

struct Unary {
  const char* name;
  ScalarFunction function;
  Truth1 truth;
  int64_t f32_ulp;  // 0 = exact, with the sign of zeros
};

double round_even(double x) { return std::nearbyint(x); }
double sign(double x) { return x == 0 || std::isnan(x) ? x : std::copysign(1.0, x); }

const Unary kUnary[] = {
    {"abs", ScalarFunction::Abs, [](double x) { return std::fabs(x); }, 0},
    {"negate", ScalarFunction::Negate, [](double x) { return -x; }, 0},
    {"square", ScalarFunction::Square, [](double x) { return x * x; }, 0},
    {"floor", ScalarFunction::Floor, [](double x) { return std::floor(x); }, 0},
    {"ceil", ScalarFunction::Ceil, [](double x) { return std::ceil(x); }, 0},
    {"round_nearest_even", ScalarFunction::RoundNearestEven, round_even, 0},
    {"round_nearest_afz", ScalarFunction::RoundNearestAfz, [](double x) { return std::round(x); }, 0},
    {"sign", ScalarFunction::Sign, sign, 0},
    {"exp", ScalarFunction::Exponential, [](double x) { return std::exp(x); }, 1},
    {"expm1", ScalarFunction::ExponentialMinusOne, [](double x) { return std::expm1(x); }, 5},
    {"log", ScalarFunction::Log, [](double x) { return std::log(x); }, 2},
    {"log1p", ScalarFunction::LogPlusOne, [](double x) { return std::log1p(x); }, 3},
    {"sqrt", ScalarFunction::Sqrt, [](double x) { return std::sqrt(x); }, 1},
    {"rsqrt", ScalarFunction::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1},
    {"tanh", ScalarFunction::Tanh, [](double x) { return std::tanh(x); }, 1},
    {"logistic", ScalarFunction::Logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 1},
    {"erf", ScalarFunction::Erf, [](double x) { return std::erf(x); }, 1},
    {"sine", ScalarFunction::Sine, [](double x) { return std::sin(x); }, 4},
    {"cosine", ScalarFunction::Cosine, [](double x) { return std::cos(x); }, 4},
    {"tan", ScalarFunction::Tan, [](double x) { return std::tan(x); }, 6},
    {"atan", ScalarFunction::Atan, [](double x) { return std::atan(x); }, 2},
    {"asin", ScalarFunction::Asin, [](double x) { return std::asin(x); }, 4},
    {"acos", ScalarFunction::Acos, [](double x) { return std::acos(x); }, 4},
    {"sinh", ScalarFunction::Sinh, [](double x) { return std::sinh(x); }, 12},
    {"cosh", ScalarFunction::Cosh, [](double x) { return std::cosh(x); }, 12},
    {"asinh", ScalarFunction::Asinh, [](double x) { return std::asinh(x); }, 4},
    {"acosh", ScalarFunction::Acosh, [](double x) { return std::acosh(x); }, 4},
    {"atanh", ScalarFunction::Atanh, [](double x) { return std::atanh(x); }, 4},
    {"cbrt", ScalarFunction::Cbrt, [](double x) { return std::cbrt(x); }, 2},
};

TEST_CASE("unary float functions match libm on every type", "[expand_math]") {
  for (const Unary& row : kUnary)
    for (Dtype type : kFloatTypes) {
      // One rounding to a 16-bit type is at most one unit off when the fp32 value is.
      const int64_t allowed = row.f32_ulp == 0 ? 0 : (type == Dtype::F32 ? row.f32_ulp : 1);
      check_float(
          row.name, {row.function, {sample_floats(type, 11)}, type, {}},
          [&](const std::vector<double>& x) { return row.truth(x[0]); }, allowed);
    }
}

double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -0.0 : 0.0;
  return std::max(a, b);
}
double smaller(double a, double b) { return -larger(-a, -b); }

struct Binary {
  const char* name;
  ScalarFunction function;
  Truth2 truth;
  int64_t f32_ulp;
};

const Binary kBinary[] = {
    {"add", ScalarFunction::Add, [](double a, double b) { return a + b; }, 0},
    {"subtract", ScalarFunction::Subtract, [](double a, double b) { return a - b; }, 0},
    {"multiply", ScalarFunction::Multiply, [](double a, double b) { return a * b; }, 0},
    {"divide", ScalarFunction::Divide, [](double a, double b) { return a / b; }, 0},
    {"maximum", ScalarFunction::Maximum, larger, 0},
    {"minimum", ScalarFunction::Minimum, smaller, 0},
    {"remainder", ScalarFunction::Remainder, [](double a, double b) { return std::fmod(a, b); }, 0},
    {"atan2", ScalarFunction::Atan2, [](double a, double b) { return std::atan2(a, b); }, 3},
    {"power", ScalarFunction::Power, [](double a, double b) { return std::pow(a, b); }, 1},
};

TEST_CASE("binary float functions match libm on every type", "[expand_math]") {
  for (const Binary& row : kBinary)
    for (Dtype type : kFloatTypes) {
      const auto [a, b] = sample_float_pairs(type, 23);
      // bf16 results in fp32's subnormal range may round twice, as they do in XLA.
      const int64_t allowed = type == Dtype::BF16 ? std::max<int64_t>(row.f32_ulp, 1) : row.f32_ulp;
      check_float(
          row.name, {row.function, {a, b}, type, {}},
          [&](const std::vector<double>& x) { return row.truth(x[0], x[1]); }, allowed);
    }
}

TEST_CASE("clamp and select follow HLO", "[expand_math]") {
  const auto [a, b] = sample_float_pairs(Dtype::F32, 5);
  check_float(
      "clamp", {ScalarFunction::Clamp, {scalar(Dtype::F32, -1), a, b}, Dtype::F32, {}},
      [](const std::vector<double>& x) { return smaller(larger(x[1], x[0]), x[2]); }, 0);
  Array predicate{Dtype::Pred, {}};
  for (size_t i = 0; i < a.bits.size(); ++i) predicate.bits.push_back(i % 3 == 0);
  check_float(
      "select", {ScalarFunction::SelectModel, {predicate, a, b}, Dtype::F32, {}},
      [](const std::vector<double>& x) { return x[0] != 0 ? x[1] : x[2]; }, 0);
}

TEST_CASE("comparisons of floats are IEEE or total", "[expand_math]") {
  using penguin::Comparison;
  for (Dtype type : kFloatTypes) {
    const auto [a, b] = sample_float_pairs(type, 9);
    for (Comparison comparison :
         {Comparison::Eq, Comparison::Ne, Comparison::Ge, Comparison::Gt, Comparison::Le, Comparison::Lt}) {
      auto holds = [&](auto x, auto y) {
        switch (comparison) {
          case Comparison::Eq:
            return x == y;
          case Comparison::Ne:
            return x != y;
          case Comparison::Ge:
            return x >= y;
          case Comparison::Gt:
            return x > y;
          case Comparison::Le:
            return x <= y;
          default:
            return x < y;
        }
      };
      const int width = info(type).bits;
      auto key = [&](uint64_t bits) {
        const int64_t value = static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
        return value < 0 ? value ^ ((int64_t{1} << (width - 1)) - 1) : value;
      };
      for (bool total : {false, true})
        for (const char* target : {"trn1", "trn2"}) {
          Call call{ScalarFunction::Compare, {a, b}, Dtype::Pred, {}};
          call.attributes.comparison = comparison;
          call.attributes.total_order = total;
          const Outcome outcome = run(call, *find_arch(target));
          int wrong = 0;
          for (size_t i = 0; i < a.bits.size(); ++i) {
            const bool expected = total ? holds(key(a.bits[i]), key(b.bits[i]))
                                        : holds(as_double(type, a.bits[i]), as_double(type, b.bits[i]));
            wrong += (outcome.result.bits[i] != 0) != expected;
          }
          CHECK(wrong == 0);
        }
    }
  }
}

TEST_CASE("8-bit floats compute in fp32 and round once", "[expand_math]") {
  for (Dtype type : {Dtype::F8E5M2, Dtype::F8E4M3FN}) {
    Array x{type, {}};
    for (uint64_t bits = 0; bits < 256; ++bits) x.bits.push_back(bits);
    check_float(
        "exp", {ScalarFunction::Exponential, {x}, type, {}},
        [](const std::vector<double>& v) { return std::exp(v[0]); }, 1);
    check_float(
        "floor", {ScalarFunction::Floor, {x}, type, {}},
        [](const std::vector<double>& v) { return std::floor(v[0]); }, 0);
    check_float(
        "sqrt", {ScalarFunction::Sqrt, {x}, type, {}},
        [](const std::vector<double>& v) { return std::sqrt(v[0]); }, 1);
    check_float(
        "convert", {ScalarFunction::Convert, {x}, Dtype::F32, {}},
        [](const std::vector<double>& v) { return v[0]; }, 0);
  }
}

TEST_CASE("float classification is exact", "[expand_math]") {
  for (Dtype type : kFloatTypes) {
    const Array x = sample_floats(type, 3);
    auto classify = [&](ScalarFunction function, bool (*truth)(double)) {
      check_float(
          "classify", {function, {x}, Dtype::Pred, {}},
          [&](const std::vector<double>& v) { return truth(v[0]) ? 1.0 : 0.0; }, 0);
    };
    classify(ScalarFunction::IsFinite, [](double v) { return std::isfinite(v); });
    classify(ScalarFunction::IsInf, [](double v) { return std::isinf(v); });
    classify(ScalarFunction::IsPosInf, [](double v) { return std::isinf(v) && v > 0; });
    classify(ScalarFunction::IsNegInf, [](double v) { return std::isinf(v) && v < 0; });
  }
}

// XLA's definition, on the bits of the operand's own format.
uint64_t reduced(uint64_t bits, int width, int exponent_bits, int mantissa_bits, int to_exponent,
                 int to_mantissa) {
  const uint64_t sign = bits & (uint64_t{1} << (width - 1));
  uint64_t magnitude = bits ^ sign;
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  if (magnitude > infinity) return to_mantissa > 0 ? bits : infinity;
  if (to_mantissa < mantissa_bits) {
    const int dropped = mantissa_bits - to_mantissa;
    magnitude += ((magnitude >> dropped) & 1) + (uint64_t{1} << (dropped - 1)) - 1;
    magnitude &= ~((uint64_t{1} << dropped) - 1);
  }
  if (to_exponent < exponent_bits) {
    const uint64_t bias = (uint64_t{1} << (exponent_bits - 1)) - 1,
                   to_bias = (uint64_t{1} << (to_exponent - 1)) - 1;
    const uint64_t exponent = magnitude >> mantissa_bits;
    if (exponent > bias + to_bias) magnitude = infinity;
    if (exponent <= bias - to_bias) magnitude = 0;
  }
  return sign | magnitude;
}

TEST_CASE("reduce_precision rounds like XLA", "[expand_math]") {
  struct Format {
    Dtype type;
    int exponent, mantissa;
  };
  for (const Format& format :
       {Format{Dtype::F32, 8, 23}, Format{Dtype::BF16, 8, 7}, Format{Dtype::F16, 5, 10}})
    for (auto [exponent, mantissa] :
         {std::pair{8, 7}, {5, 10}, {4, 3}, {5, 2}, {8, 0}, {2, 1}, {11, 52}, {8, 23}}) {
      const Array x = sample_floats(format.type, 17);
      Call call{ScalarFunction::ReducePrecision, {x}, format.type, {}};
      call.attributes.exponent_bits = exponent;
      call.attributes.mantissa_bits = mantissa;
      const Outcome outcome = run(call, *find_arch("trn1"));
      int wrong = 0;
      std::string first;
      for (size_t i = 0; i < x.bits.size(); ++i) {
        const uint64_t expected =
            reduced(x.bits[i], info(format.type).bits, format.exponent, format.mantissa, exponent, mantissa);
        if (ulp_distance(format.type, outcome.result.bits[i], expected) == 0) continue;
        if (wrong++ == 0)
          first = fmt::format("{:x} gives {:x} expected {:x}", x.bits[i], outcome.result.bits[i], expected);
      }
      INFO(info(format.type).hlo << " e" << exponent << "m" << mantissa << ": " << first);
      CHECK(wrong == 0);
    }
}

}  // namespace
}  // namespace ncc::hlo_opt::testing
