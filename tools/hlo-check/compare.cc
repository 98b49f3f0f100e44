// What belongs to a case: which result, which expected value, samples, and the allowance of level sim (DESIGN
// §12). The comparison itself is common/compare.
#include "tools/hlo-check/compare.h"

#include <algorithm>

namespace ncc::check {
namespace {

using hlo::Literal;

/// What an f32 transcendental on the machine is allowed when the file asks for less.
constexpr int64_t kSimTranscendentalUlp = 16;

// Level sim gives f32 transcendentals 16 ulp when the file asks for less; nothing else is widened.
Rule rule_at(const Check& check, Level level, Dtype type) {
  Rule rule = check.rule;
  const bool f32 = type == Dtype::F32;
  if (level == Level::Sim && f32 && check.transcendental && rule.kind == Rule::Kind::Ulp)
    rule.max_ulp = std::max(rule.max_ulp, kSimTranscendentalUlp);
  return rule;
}

std::string shape_problem(const Check& check, const Literal& actual, const Literal& expected) {
  if (actual.shape().dtype != expected.shape().dtype)
    return fmt::format("element type {}, expected {}", info(actual.shape().dtype).hlo,
                       info(expected.shape().dtype).hlo);
  if (check.sample_stride > 0) {
    const int64_t samples = (actual.num_elements() + check.sample_stride - 1) / check.sample_stride;
    return samples == expected.num_elements()
               ? ""
               : fmt::format("{} samples, expected {}", samples, expected.num_elements());
  }
  return actual.shape().dims == expected.shape().dims
             ? ""
             : fmt::format("shape {}, expected {}", to_string(actual.shape()), to_string(expected.shape()));
}

// What is wrong with one result; empty when it passes.
std::string difference(const Check& check, const Literal& actual, const Literal& expected, Level level,
                       Outcome& outcome) {
  const std::string problem = shape_problem(check, actual, expected);
  if (!problem.empty()) return ": " + problem;
  const Dtype type = actual.shape().dtype;
  if (type == Dtype::Token) return "";
  const int64_t stride = std::max<int64_t>(1, check.sample_stride);
  const Comparison found =
      ncc::compare(Elements{type, actual.bytes().data(), stride}, Elements{type, expected.bytes().data()},
                   expected.num_elements(), rule_at(check, level, type));
  outcome.max_abs = std::max(outcome.max_abs, found.max_abs);
  outcome.max_rel = std::max(outcome.max_rel, found.max_rel);
  if (!found.first_wrong) return "";
  return fmt::format(" at {}: {}; {} of {} differ",
                     index_text(actual.shape().dims, *found.first_wrong * stride), found.first_values,
                     found.num_wrong, found.num_elements);
}

}  // namespace

void compare_results(const Program& program, const std::vector<Literal>& results, Level level,
                     Outcome& outcome) {
  for (const Check& check : program.checks) {
    std::string wrong = " is missing";
    if (check.actual < static_cast<int64_t>(results.size())) {
      const Literal& actual = results[static_cast<size_t>(check.actual)];
      const Literal& expected =
          check.expected_result ? results[static_cast<size_t>(*check.expected_result)] : check.expected;
      wrong = difference(check, actual, expected, level, outcome);
    }
    if (wrong.empty() || outcome.verdict != Verdict::Pass) continue;
    outcome.verdict = Verdict::Mismatch;
    outcome.diagnostic = fmt::format("result {}{}", check.actual, wrong);
  }
}

}  // namespace ncc::check
