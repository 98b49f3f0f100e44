// Rules: spec/stablehlo-text.md §2.10 (check dialect), corpus README (relative rule, samples), DESIGN §12
// (level sim).
#include "tools/hlo-check/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ncc::check {
namespace {

using hlo::Literal;

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
/// What an f32 transcendental on the machine is allowed when the file asks for less.
constexpr int64_t kSimTranscendentalUlp = 16;

int64_t ordered(int64_t bits, int width) {
  const int64_t sign = int64_t{1} << (width - 1);
  return bits & sign ? -(bits & (sign - 1)) : bits;
}

// The pattern of the value in its own format, as an integer that orders like the value.
int64_t pattern(Dtype type, double value) {
  uint64_t bits = 0;
  store_from_double(type, &bits, value);
  const int width = static_cast<int>(size_bytes(type)) * 8;
  if (width == 64) {
    const int64_t raw = static_cast<int64_t>(bits);
    return raw < 0 ? std::numeric_limits<int64_t>::min() - raw : raw;
  }
  return ordered(static_cast<int64_t>(bits), width);
}

struct Parts {
  Dtype type;  // real element type
  int count;   // 2 for complex
};
Parts parts_of(Dtype type) {
  if (type == Dtype::C64) return {Dtype::F32, 2};
  if (type == Dtype::C128) return {Dtype::F64, 2};
  return {type, 1};
}

bool passes_float(const Rule& rule, Dtype type, double a, double e) {
  switch (rule.kind) {
    case Rule::Kind::Exact:
      return a == e || (std::isnan(a) && std::isnan(e));
    case Rule::Kind::Ulp: {
      const int64_t distance = ulp_distance(type, a, e);
      return distance >= rule.min_ulp && distance <= rule.max_ulp;
    }
    case Rule::Kind::Absolute:
    case Rule::Kind::Relative: {
      if (a == e || (std::isnan(a) && std::isnan(e))) return true;
      if (!std::isfinite(a) || !std::isfinite(e)) return false;
      const double slack = rule.kind == Rule::Kind::Relative ? rule.rtol * std::fabs(e) : 0;
      return std::fabs(a - e) <= rule.tolerance + slack;
    }
  }
  return false;
}

// Walks one check and keeps the extremes.
class Comparison {
 public:
  Comparison(const Check& check, const Literal& actual, const Literal& expected, const Rule& rule,
             Outcome& outcome)
      : check_(check), actual_(actual), expected_(expected), rule_(rule), outcome_(outcome) {}

  // The first failing element, or -1.
  int64_t first_failure() {
    const Parts parts = parts_of(actual_.shape().dtype);
    const bool floating = is_float(parts.type);
    const int64_t stride = std::max<int64_t>(1, check_.sample_stride);
    const int64_t count = expected_.num_elements();
    int64_t failure = -1;
    for (int64_t i = 0; i < count; ++i) {
      bool same = true;
      for (int part = 0; part < parts.count; ++part) {
        const int64_t at = (i * stride) * parts.count + part, from = i * parts.count + part;
        same &= floating ? float_agrees(parts.type, at, from) : int_agrees(at, from);
      }
      if (!same && failure < 0) failure = i;
    }
    return failure;
  }

 private:
  bool float_agrees(Dtype type, int64_t at, int64_t from) {
    const double a = load_as_double(type, actual_.bytes().data() + at * size_bytes(type));
    const double e = load_as_double(type, expected_.bytes().data() + from * size_bytes(type));
    if (std::isfinite(a) && std::isfinite(e)) {
      const double difference = std::fabs(a - e);
      outcome_.max_abs = std::max(outcome_.max_abs, difference);
      if (e != 0) outcome_.max_rel = std::max(outcome_.max_rel, difference / std::fabs(e));
    }
    return passes_float(rule_, type, a, e);
  }

  bool int_agrees(int64_t at, int64_t from) {
    const int64_t a = actual_.as_int64(at), e = expected_.as_int64(from);
    if (a == e) return true;
    const double difference = std::fabs(static_cast<double>(a) - static_cast<double>(e));
    outcome_.max_abs = std::max(outcome_.max_abs, difference);
    if (e != 0) outcome_.max_rel = std::max(outcome_.max_rel, difference / std::fabs(static_cast<double>(e)));
    return false;
  }

  const Check& check_;
  const Literal& actual_;
  const Literal& expected_;
  const Rule& rule_;
  Outcome& outcome_;
};

std::string element_text(const Literal& literal, int64_t index) {
  const Parts parts = parts_of(literal.shape().dtype);
  const auto part = [&](int64_t i) {
    const std::byte* at = literal.bytes().data() + i * size_bytes(parts.type);
    return is_float(parts.type) ? fmt::format("{}", load_as_double(parts.type, at))
                                : fmt::format("{}", load_as_int64(parts.type, at));
  };
  return parts.count == 2 ? fmt::format("({}, {})", part(2 * index), part(2 * index + 1)) : part(index);
}

std::string index_text(const std::vector<int64_t>& dims, int64_t flat) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; flat /= dims[d]) index[d] = flat % dims[d];
  return fmt::format("[{}]", fmt::join(index, ","));
}

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

}  // namespace

int64_t ulp_distance(Dtype type, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kFar;
  const int64_t x = pattern(type, a), y = pattern(type, b);
  const uint64_t distance = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                                  : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  return distance > static_cast<uint64_t>(kFar) ? kFar : static_cast<int64_t>(distance);
}

void compare_results(const Program& program, const std::vector<Literal>& results, Level level,
                     Outcome& outcome) {
  for (const Check& check : program.checks) {
    if (check.actual >= static_cast<int64_t>(results.size())) {
      outcome.verdict = Verdict::Mismatch;
      outcome.diagnostic = fmt::format("result {} is missing", check.actual);
      return;
    }
    const Literal& actual = results[static_cast<size_t>(check.actual)];
    const Literal& expected =
        check.expected_result ? results[static_cast<size_t>(*check.expected_result)] : check.expected;
    const std::string problem = shape_problem(check, actual, expected);
    const Rule rule = rule_at(check, level, actual.shape().dtype);
    const int64_t failure =
        problem.empty() ? Comparison(check, actual, expected, rule, outcome).first_failure() : 0;
    if (failure < 0 || outcome.verdict != Verdict::Pass) continue;
    outcome.verdict = Verdict::Mismatch;
    if (!problem.empty()) {
      outcome.diagnostic = fmt::format("result {}: {}", check.actual, problem);
      continue;
    }
    const int64_t at = failure * std::max<int64_t>(1, check.sample_stride);
    outcome.diagnostic =
        fmt::format("result {} at {}: {}, expected {}", check.actual, index_text(actual.shape().dims, at),
                    element_text(actual, at), element_text(expected, failure));
  }
}

}  // namespace ncc::check
