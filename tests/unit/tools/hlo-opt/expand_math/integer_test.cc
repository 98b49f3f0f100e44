#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/tools/hlo-opt/expand_math/sweep.h"

namespace ncc::hlo_opt::testing {
namespace {

using penguin::ScalarFunction;
using Values = std::vector<int64_t>;

int64_t wrapped(Dtype type, int64_t value) { return as_int64(type, integers(type, {value}).bits[0]); }

int64_t divide(int64_t a, int64_t b) { return b == 0 ? -1 : a / b; }
int64_t remainder(int64_t a, int64_t b) { return b == 0 ? a : a % b; }

int64_t power(Dtype type, int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : (base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0);
  uint64_t product = 1, square = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1, square *= square)
    if (rest & 1) product *= square;
  return wrapped(type, static_cast<int64_t>(product));
}

TEST_CASE("integer arithmetic wraps on every type", "[expand_math]") {
  for (Dtype type : kIntegerTypes) {
    const auto [a, b] = sample_integer_pairs(type, 31);
    auto binary = [&](const char* name, ScalarFunction function, auto truth) {
      check_integer(name, {function, {a, b}, type, {}}, [&](const Values& x) { return truth(x[0], x[1]); });
    };
    auto product = [](int64_t x, int64_t y) {
      return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    };
    binary("add", ScalarFunction::Add, [](int64_t x, int64_t y) { return x + y; });
    binary("subtract", ScalarFunction::Subtract, [](int64_t x, int64_t y) { return x - y; });
    binary("multiply", ScalarFunction::Multiply, product);
    binary("divide", ScalarFunction::Divide, divide);
    binary("remainder", ScalarFunction::Remainder, remainder);
    binary("maximum", ScalarFunction::Maximum, [](int64_t x, int64_t y) { return std::max(x, y); });
    binary("minimum", ScalarFunction::Minimum, [](int64_t x, int64_t y) { return std::min(x, y); });
    binary("and", ScalarFunction::And, [](int64_t x, int64_t y) { return x & y; });
    binary("or", ScalarFunction::Or, [](int64_t x, int64_t y) { return x | y; });
    binary("xor", ScalarFunction::Xor, [](int64_t x, int64_t y) { return x ^ y; });
    binary("power", ScalarFunction::Power, [&](int64_t x, int64_t y) { return power(type, x, y); });
  }
}

TEST_CASE("unary integer functions are exact on every type", "[expand_math]") {
  for (Dtype type : kIntegerTypes) {
    const Array a = sample_integers(type, 41);
    const int width = info(type).bits;
    auto raw = [=](int64_t x) { return static_cast<uint64_t>(x) & ((uint64_t{1} << width) - 1); };
    auto unary = [&](const char* name, ScalarFunction function, auto truth) {
      check_integer(name, {function, {a}, type, {}},
                    [&](const Values& x) { return static_cast<int64_t>(truth(x[0])); });
    };
    unary("abs", ScalarFunction::Abs, [](int64_t x) { return std::abs(x); });
    unary("negate", ScalarFunction::Negate, [](int64_t x) { return -x; });
    unary("sign", ScalarFunction::Sign, [](int64_t x) { return (x > 0) - (x < 0); });
    unary("not", ScalarFunction::Not, [](int64_t x) { return ~x; });
    unary("popcnt", ScalarFunction::PopulationCount, [&](int64_t x) { return std::popcount(raw(x)); });
    unary("clz", ScalarFunction::CountLeadingZeros,
          [&](int64_t x) { return std::countl_zero(raw(x)) - (64 - width); });
  }
}

TEST_CASE("shift amounts count as unsigned and may exceed the width", "[expand_math]") {
  for (Dtype type : kIntegerTypes) {
    const auto [a, b] = sample_integer_pairs(type, 51);
    const int width = info(type).bits;
    const uint64_t mask = (uint64_t{1} << width) - 1;
    auto shift = [&](const char* name, ScalarFunction function, auto truth) {
      check_integer(name, {function, {a, b}, type, {}}, [&](const Values& x) {
        return static_cast<int64_t>(
            truth(static_cast<uint64_t>(x[0]) & mask, static_cast<uint64_t>(x[1]) & mask));
      });
      for (int amount : {0, 1, width - 1, width, width + 5, -1})
        check_integer(name, {function, {a, scalar(type, amount)}, type, {}}, [&](const Values& x) {
          return static_cast<int64_t>(
              truth(static_cast<uint64_t>(x[0]) & mask, static_cast<uint64_t>(x[1]) & mask));
        });
    };
    const uint64_t w = static_cast<uint64_t>(width);
    shift("shift_left", ScalarFunction::ShiftLeft,
          [=](uint64_t x, uint64_t n) { return n >= w ? 0 : x << n; });
    shift("shift_right_logical", ScalarFunction::ShiftRightLogical,
          [=](uint64_t x, uint64_t n) { return n >= w ? 0 : x >> n; });
    shift("shift_right_arithmetic", ScalarFunction::ShiftRightArithmetic, [=](uint64_t x, uint64_t n) {
      return (static_cast<int64_t>(x << (64 - w)) >> (64 - w)) >> std::min<uint64_t>(n, w - 1);
    });
  }
}

TEST_CASE("integer comparisons hold for all values", "[expand_math]") {
  using penguin::Comparison;
  for (Dtype type : kIntegerTypes) {
    const auto [a, b] = sample_integer_pairs(type, 61);
    for (Comparison comparison :
         {Comparison::Eq, Comparison::Ne, Comparison::Ge, Comparison::Gt, Comparison::Le, Comparison::Lt}) {
      auto holds = [&](const Values& v) -> int64_t {
        switch (comparison) {
          case Comparison::Eq:
            return v[0] == v[1];
          case Comparison::Ne:
            return v[0] != v[1];
          case Comparison::Ge:
            return v[0] >= v[1];
          case Comparison::Gt:
            return v[0] > v[1];
          case Comparison::Le:
            return v[0] <= v[1];
          default:
            return v[0] < v[1];
        }
      };
      Call call{ScalarFunction::Compare, {a, b}, Dtype::Pred, {}};
      call.attributes.comparison = comparison;
      check_integer("compare", call, holds);
      for (double constant : {0.0, 1.0, 5.0, 16777216.0, 16777217.0, 2147483647.0}) {
        call.operands[1] = scalar(type, constant);
        check_integer("compare with constant", call, holds);
      }
    }
  }
}

TEST_CASE("division by constants is exact", "[expand_math]") {
  for (Dtype type : kIntegerTypes) {
    const Array a = sample_integers(type, 71);
    for (double divisor :
         {1.0, 2.0, 3.0, 7.0, 16.0, 100.0, 641.0, 65536.0, 1000003.0, 2147483647.0, -1.0, -3.0}) {
      const Array b = scalar(type, divisor);
      if (as_int64(type, b.bits[0]) == 0) continue;
      check_integer("divide by constant", {ScalarFunction::Divide, {a, b}, type, {}},
                    [](const Values& x) { return divide(x[0], x[1]); });
      check_integer("remainder by constant", {ScalarFunction::Remainder, {a, b}, type, {}},
                    [](const Values& x) { return remainder(x[0], x[1]); });
    }
  }
}

TEST_CASE("constant exponents multiply repeatedly", "[expand_math]") {
  for (Dtype type : kIntegerTypes)
    for (double exponent : {0.0, 1.0, 2.0, 3.0, 7.0, 10.0}) {
      check_integer("integer_pow",
                    {ScalarFunction::Power, {sample_integers(type, 81), scalar(type, exponent)}, type, {}},
                    [&](const Values& x) { return power(type, x[0], x[1]); });
    }
}

TEST_CASE("clamp of integers gives the upper bound last", "[expand_math]") {
  for (Dtype type : kIntegerTypes) {
    const auto [a, b] = sample_integer_pairs(type, 91);
    check_integer("clamp", {ScalarFunction::Clamp, {scalar(type, 3), a, b}, type, {}},
                  [](const Values& x) { return std::min(std::max(x[1], x[0]), x[2]); });
  }
}

TEST_CASE("conversions between integers keep the low bits", "[expand_math]") {
  for (Dtype from : kIntegerTypes)
    for (Dtype to : kIntegerTypes)
      check_integer("convert", {ScalarFunction::Convert, {sample_integers(from, 101)}, to, {}},
                    [](const Values& x) { return x[0]; });
  for (Dtype from : kIntegerTypes)
    check_integer("convert to pred", {ScalarFunction::Convert, {sample_integers(from, 102)}, Dtype::Pred, {}},
                  [](const Values& x) { return x[0] != 0; });
}

TEST_CASE("integers convert to floats with one rounding", "[expand_math]") {
  for (Dtype from : kIntegerTypes)
    for (Dtype to : kFloatTypes) {
      Array a = sample_integers(from, 103);
      // Just beside ties of bf16 that fp32 would round onto them.
      for (int64_t tie : {int64_t{0x40400001}, int64_t{0x404000FF}, int64_t{0x7F80003F}, int64_t{0x01808001},
                          int64_t{0x10080001}, int64_t{0x0100FFFF}})
        for (int64_t value : {tie, -tie}) a.bits.push_back(integers(from, {value}).bits[0]);
      check_float(
          "convert", {ScalarFunction::Convert, {a}, to, {}},
          [](const std::vector<double>& x) { return x[0]; }, 0);
    }
}

TEST_CASE("floats convert to integers by truncation", "[expand_math]") {
  for (Dtype from : kFloatTypes)
    for (Dtype to : kIntegerTypes) {
      const Array a = sample_floats(from, 104);
      for (const char* target : {"trn1", "trn2"}) {
        const Outcome outcome = run({ScalarFunction::Convert, {a}, to, {}}, *find_arch(target));
        int wrong = 0;
        for (size_t i = 0; i < a.bits.size(); ++i) {
          uint64_t expected = 0;
          store_from_double(to, &expected, as_double(from, a.bits[i]));
          wrong += outcome.result.bits[i] != expected;
        }
        CHECK(wrong == 0);
      }
    }
}

TEST_CASE("logic on predicates is boolean", "[expand_math]") {
  const Array a{Dtype::Pred, {0, 0, 1, 1}}, b{Dtype::Pred, {0, 1, 0, 1}};
  auto binary = [&](ScalarFunction function, auto truth) {
    check_integer("pred", {function, {a, b}, Dtype::Pred, {}},
                  [&](const Values& x) { return int64_t{truth(x[0] != 0, x[1] != 0)}; });
  };
  auto conjunction = [](bool x, bool y) { return x && y; };
  auto disjunction = [](bool x, bool y) { return x || y; };
  for (ScalarFunction function : {ScalarFunction::And, ScalarFunction::Multiply, ScalarFunction::Minimum})
    binary(function, conjunction);
  for (ScalarFunction function : {ScalarFunction::Or, ScalarFunction::Add, ScalarFunction::Maximum})
    binary(function, disjunction);
  binary(ScalarFunction::Xor, [](bool x, bool y) { return x != y; });
  check_integer("not", {ScalarFunction::Not, {a}, Dtype::Pred, {}},
                [](const Values& x) { return x[0] == 0; });
}

}  // namespace
}  // namespace ncc::hlo_opt::testing
