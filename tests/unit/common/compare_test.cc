#include "common/compare/compare.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace ncc;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
int64_t wrong(Dtype type, const std::vector<T>& actual, const std::vector<T>& expected, int64_t count,
              const Rule& rule) {
  return compare(Elements{type, reinterpret_cast<const std::byte*>(actual.data())},
                 Elements{type, reinterpret_cast<const std::byte*>(expected.data())}, count, rule)
      .num_wrong;
}

}  // namespace

TEST_CASE("ulp distance counts representable values of the type itself", "[compare]") {
  CHECK(ulp_distance(Dtype::F32, 1.0, 1.0 + 0x1p-23) == 1);
  CHECK(ulp_distance(Dtype::BF16, 1.0, 1.0 + 0x1p-6) == 2);
  CHECK(ulp_distance(Dtype::F16, -0x1p-24, 0x1p-24) == 2);
  CHECK(ulp_distance(Dtype::F64, 0.0, -0.0) == 0);
  CHECK(ulp_distance(Dtype::F32, kNan, kNan) == 0);
  CHECK(ulp_distance(Dtype::F32, kInf, 1.0) == std::numeric_limits<int64_t>::max());
}

TEST_CASE("4-bit floats are a step apart where their bits are", "[compare]") {
  CHECK(ulp_distance(Dtype::F4E2M1FN, 0.5, 1.0) == 1);
  CHECK(ulp_distance(Dtype::F4E2M1FN, -0.5, 0.5) == 2);
}

TEST_CASE("NaN equals NaN under every rule but the exact one", "[compare]") {
  const std::vector<double> nan = {kNan};
  CHECK(wrong(Dtype::F64, nan, nan, 1, {}) == 1);
  CHECK(wrong(Dtype::F64, nan, nan, 1, {.kind = Rule::Kind::Ulp}) == 0);
  CHECK(wrong(Dtype::F64, nan, nan, 1, {.kind = Rule::Kind::Absolute}) == 0);
  CHECK(wrong(Dtype::F64, nan, nan, 1, Rule::relative({})) == 0);
}

TEST_CASE("a relative rule takes complex numbers by magnitude, the others by part", "[compare]") {
  const std::vector<float> actual = {100, 0.5F}, expected = {100, 0};
  CHECK(wrong(Dtype::C64, actual, expected, 1, Rule::relative({0.01, 0})) == 0);
  CHECK(wrong(Dtype::C64, actual, expected, 1, {.kind = Rule::Kind::Absolute, .tolerance = 0.4}) == 1);
}

TEST_CASE("a least distance can be asked for", "[compare]") {
  const std::vector<float> one = {1};
  CHECK(wrong(Dtype::F32, one, one, 1, {.kind = Rule::Kind::Ulp, .min_ulp = 1, .max_ulp = 3}) == 1);
}

TEST_CASE("integers are exact under every rule", "[compare]") {
  const std::vector<int64_t> a = {int64_t{1} << 62}, b = {(int64_t{1} << 62) + 1};
  CHECK(wrong(Dtype::S64, a, b, 1, Rule::relative({1, 1})) == 1);
}

TEST_CASE("results without expected values for each of them do not pass", "[compare]") {
  const std::vector<ncc::NamedArray> one = {{"y", ncc::Array::zeros(ncc::Dtype::F32, {2})}};
  CHECK(ncc::compare_with_goldens(one, one, "a pass").is_ok());
  CHECK_FALSE(ncc::compare_with_goldens(one, {}, "a pass").is_ok());
  CHECK_FALSE(ncc::compare_with_goldens({}, one, "a pass").is_ok());
}
