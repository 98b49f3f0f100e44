#include "tools/hlo-check/compare.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace ncc;
using namespace ncc::check;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Outcome compare(const Rule& rule, float actual, float expected, Level level = Level::Golden,
                bool transcendental = false) {
  Program program;
  Check check;
  check.rule = rule;
  check.expected = hlo::Literal::scalar(Dtype::F32, expected);
  check.transcendental = transcendental;
  program.checks.push_back(std::move(check));
  Outcome outcome;
  compare_results(program, {hlo::Literal::scalar(Dtype::F32, actual)}, level, outcome);
  return outcome;
}

float ulps_above(float x, int n) {
  for (int i = 0; i < n; ++i) x = std::nextafterf(x, 1e30F);
  return x;
}

}  // namespace

TEST_CASE("an exact rule accepts zeros of either sign and no NaN", "[hlo-check]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(compare({}, -0.0F, 0.0F).verdict == Verdict::Pass);
  CHECK(compare({}, nan, nan).verdict == Verdict::Mismatch);
  CHECK(compare({}, ulps_above(1, 1), 1).verdict == Verdict::Mismatch);
}

TEST_CASE("an absolute rule never accepts an infinity against a finite value", "[hlo-check]") {
  const Rule rule{.kind = Rule::Kind::Absolute, .tolerance = 1e-3};
  CHECK(compare(rule, 1.0005F, 1).verdict == Verdict::Pass);
  CHECK(compare(rule, 1.002F, 1).verdict == Verdict::Mismatch);
  CHECK(compare(rule, static_cast<float>(kInf), 1).verdict == Verdict::Mismatch);
  CHECK(compare(rule, static_cast<float>(kInf), static_cast<float>(kInf)).verdict == Verdict::Pass);
}

TEST_CASE("only an f32 transcendental at level sim gets 16 ulp", "[hlo-check]") {
  const Rule rule{.kind = Rule::Kind::Ulp, .max_ulp = 3};
  CHECK(compare(rule, ulps_above(1, 16), 1, Level::Sim, true).verdict == Verdict::Pass);
  CHECK(compare(rule, ulps_above(1, 17), 1, Level::Sim, true).verdict == Verdict::Mismatch);
  CHECK(compare(rule, ulps_above(1, 4), 1, Level::Sim, false).verdict == Verdict::Mismatch);
  CHECK(compare(rule, ulps_above(1, 4), 1, Level::Bir, true).verdict == Verdict::Mismatch);
}

TEST_CASE("a mismatch names the element, its value and the expected one", "[hlo-check]") {
  Program program;
  Check check;
  const int32_t expected[] = {1, 2, 3, 4};
  check.expected =
      hlo::Literal::copy(hlo::Shape::array(Dtype::S32, {2, 2}), std::as_bytes(std::span(expected)));
  program.checks.push_back(std::move(check));
  const int32_t actual[] = {1, 2, 9, 4};
  Outcome outcome;
  compare_results(
      program, {hlo::Literal::copy(hlo::Shape::array(Dtype::S32, {2, 2}), std::as_bytes(std::span(actual)))},
      Level::Golden, outcome);
  CHECK(outcome.verdict == Verdict::Mismatch);
  CHECK(outcome.diagnostic == "result 0 at [1,0]: got 9, expected 3; 1 of 4 differ");
  CHECK(outcome.max_abs == 6);
}

TEST_CASE("a sampled expectation is compared at every stride-th element", "[hlo-check]") {
  Program program;
  Check check;
  check.sample_stride = 2;
  const int32_t expected[] = {1, 3, 5};
  check.expected = hlo::Literal::copy(hlo::Shape::array(Dtype::S32, {3}), std::as_bytes(std::span(expected)));
  program.checks.push_back(std::move(check));
  const int32_t actual[] = {1, 0, 3, 0, 5};
  Outcome outcome;
  compare_results(program,
                  {hlo::Literal::copy(hlo::Shape::array(Dtype::S32, {5}), std::as_bytes(std::span(actual)))},
                  Level::Golden, outcome);
  CHECK(outcome.verdict == Verdict::Pass);
}
