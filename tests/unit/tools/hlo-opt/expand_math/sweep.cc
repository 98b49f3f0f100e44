#include "tests/unit/tools/hlo-opt/expand_math/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

namespace ncc::hlo_opt::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> special_floats(Dtype dtype) {
  std::vector<double> values = {0.0, -0.0, 1,    -1,    0.5,  -0.5,    1.5,     -1.5,     2,
                                -2,  2.5,  -2.5, 3,     -3,   10,      -10,     0.1,      -0.1,
                                100, -100, kInf, -kInf, NAN,  0x1p-14, 0x1p-20, -0x1p-24, 127,
                                128, 255,  256,  -128,  -129, 65504,   -65504};
  if (dtype != Dtype::F16)
    for (double v : {0x1p-149, -0x1p-149, 0x1p-133, 0x1p-126, 0x1p-100, 0x1p-64, 0x1p64, 0x1p100, 3e38, -3e38,
                     1e9, -1e9, 0x1p31, -0x1p31, 0x1p32, 0x1p22, 0x1p23, 0x1p24, -0x1p23})
      values.push_back(v);
  if (dtype == Dtype::F32)
    for (double v : {0.49999997, -0.49999997, 8388609.0, 8388607.5, -8388607.5, 4194303.5, 4194304.5,
                     1 - 0x1p-24, 1 + 0x1p-23, 16777215.0, 3.14159274101257324, 1.57079637050628662,
                     6.28318548202514648, 88.72283, 88.8, -87.4, -104.0, 2147483520.0})
      values.push_back(v);
  return values;
}

}  // namespace

Array sample_floats(Dtype dtype, uint64_t seed, bool is_large) {
  Array array = floats(dtype, special_floats(dtype));
  std::mt19937_64 random(seed);
  if (info(dtype).bits == 16 && is_large) {
    for (uint64_t bits = seed % 7; bits < 65536; bits += 7) array.bits.push_back(bits);
    return array;
  }
  const int count = is_large ? 6000 : 1000;
  for (int i = 0; i < count; ++i) array.bits.push_back(random() & ((uint64_t{1} << info(dtype).bits) - 1));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values;
  for (int i = 0; i < count / 4; ++i) {
    values.push_back(10 * uniform(random));
    values.push_back(100 * uniform(random));
    values.push_back(1 + 0.01 * uniform(random));
    values.push_back(std::rint(100 * uniform(random)) + 0x1p-18 * uniform(random));
    values.push_back(uniform(random));
  }
  for (uint64_t bits : floats(dtype, values).bits) array.bits.push_back(bits);
  return array;
}

Array sample_integers(Dtype dtype, uint64_t seed, int count) {
  std::vector<int64_t> values = {0, 1, 2, 3, 7, 10, -1, -2, -3, 100};
  const int width = info(dtype).bits;
  for (int bit : {1, 4, 7, 8, 12, 15, 16, 20, 23, 24, 25, 28, 30, 31}) {
    if (bit >= width) break;
    for (int64_t delta : {-1, 0, 1}) {
      values.push_back((int64_t{1} << bit) + delta);
      values.push_back(-(int64_t{1} << bit) + delta);
    }
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) values.push_back(static_cast<int64_t>(random()) >> (random() % 63));
  return integers(dtype, values);
}

std::pair<Array, Array> sample_float_pairs(Dtype dtype, uint64_t seed) {
  std::pair<Array, Array> pair{{dtype, {}}, {dtype, {}}};
  const Array special = floats(dtype, special_floats(dtype));
  for (uint64_t a : special.bits)
    for (uint64_t b : special.bits) {
      pair.first.bits.push_back(a);
      pair.second.bits.push_back(b);
    }
  Array a = sample_floats(dtype, seed, false), b = sample_floats(dtype, seed + 1, false);
  std::mt19937_64 random(seed + 2);
  std::shuffle(b.bits.begin(), b.bits.end(), random);
  pair.first.bits.insert(pair.first.bits.end(), a.bits.begin(), a.bits.end());
  pair.second.bits.insert(pair.second.bits.end(), b.bits.begin(), b.bits.end());
  return pair;
}

std::pair<Array, Array> sample_integer_pairs(Dtype dtype, uint64_t seed) {
  std::pair<Array, Array> pair{{dtype, {}}, {dtype, {}}};
  const Array special = sample_integers(dtype, seed, 0);
  for (uint64_t a : special.bits)
    for (uint64_t b : special.bits) {
      pair.first.bits.push_back(a);
      pair.second.bits.push_back(b);
    }
  const Array a = sample_integers(dtype, seed), b = sample_integers(dtype, seed + 1);
  pair.first.bits.insert(pair.first.bits.end(), a.bits.begin(), a.bits.end());
  pair.second.bits.insert(pair.second.bits.end(), b.bits.begin(), b.bits.end());
  return pair;
}

int64_t check_float(const std::string& name, const Call& call,
                    const std::function<double(const std::vector<double>&)>& truth, int64_t max_ulp) {
  int64_t worst = 0;
  for (const char* target : {"trn1", "trn2"}) {
    const Outcome outcome = run(call, *find_arch(target));
    std::vector<double> x(call.operands.size());
    int64_t worst_here = 0;
    std::string worst_case;
    for (size_t i = 0; i < outcome.result.bits.size(); ++i) {
      for (size_t k = 0; k < x.size(); ++k) {
        const Array& operand = call.operands[k];
        x[k] = as_double(operand.dtype, operand.bits[operand.is_scalar ? 0 : i]);
      }
      const double expected = truth(x);
      uint64_t expected_bits = 0;
      store_from_double(call.result, &expected_bits, expected);
      int64_t distance = ulp_distance(call.result, outcome.result.bits[i], expected_bits);
      if (max_ulp == 0 && expected == 0 && distance == 0 && outcome.result.bits[i] != expected_bits)
        distance = 1;
      if (distance > worst_here) {
        worst_here = distance;
        worst_case = fmt::format("{}({:a}={}{}) = {} expected {}", name, x[0], x[0],
                                 x.size() > 1 ? fmt::format(", {:a}={}", x[1], x[1]) : "",
                                 as_double(call.result, outcome.result.bits[i]), expected);
      }
    }
    INFO(target << " " << info(call.result).hlo << " " << worst_case << ", " << worst_here << " ulp");
    CHECK(worst_here <= max_ulp);
    if (std::getenv("EXPAND_MATH_REPORT") != nullptr)
      std::printf("%-24s %-5s %s %3d instructions, max %lld ulp (%s)\n", name.c_str(),
                  std::string(info(call.result).hlo).c_str(), target, outcome.instructions,
                  static_cast<long long>(worst_here), worst_case.c_str());
    worst = std::max(worst, worst_here);
  }
  return worst;
}

void check_integer(const std::string& name, const Call& call,
                   const std::function<int64_t(const std::vector<int64_t>&)>& truth) {
  for (const char* target : {"trn1", "trn2"}) {
    const Outcome outcome = run(call, *find_arch(target));
    std::vector<int64_t> x(call.operands.size());
    int wrong = 0;
    std::string first;
    for (size_t i = 0; i < outcome.result.bits.size(); ++i) {
      for (size_t k = 0; k < x.size(); ++k) {
        const Array& operand = call.operands[k];
        x[k] = as_int64(operand.dtype, operand.bits[operand.is_scalar ? 0 : i]);
      }
      const uint64_t expected = integers(call.result, {truth(x)}).bits[0];
      if (outcome.result.bits[i] != expected && wrong++ == 0)
        first = fmt::format("{}({}{}) = {} expected {}", name, x[0],
                            x.size() > 1 ? fmt::format(", {}", x[1]) : "",
                            as_int64(call.result, outcome.result.bits[i]), as_int64(call.result, expected));
    }
    INFO(target << " " << info(call.result).hlo << " " << first << ", " << wrong << " wrong");
    CHECK(wrong == 0);
    if (std::getenv("EXPAND_MATH_REPORT") != nullptr)
      std::printf("%-24s %-5s %s %3d instructions, %d wrong\n", name.c_str(),
                  std::string(info(call.operands[0].dtype).hlo).c_str(), target, outcome.instructions, wrong);
  }
}

}  // namespace ncc::hlo_opt::testing
