#include "common/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace ncc {
namespace {

using Value = std::complex<double>;

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

bool is_exact(Dtype dtype) { return is_integer(dtype) || dtype == Dtype::Pred; }

Value load_value(Dtype dtype, const std::byte* at) {
  if (dtype == Dtype::C64) return {load_as_double(Dtype::F32, at), load_as_double(Dtype::F32, at + 4)};
  if (dtype == Dtype::C128) return {load_as_double(Dtype::F64, at), load_as_double(Dtype::F64, at + 8)};
  return load_as_double(dtype, at);
}

Dtype real_part(Dtype dtype) {
  if (dtype == Dtype::C64) return Dtype::F32;
  return dtype == Dtype::C128 ? Dtype::F64 : dtype;
}

std::string text(Dtype dtype, const std::byte* at) {
  if (dtype == Dtype::Pred) return load_as_int64(dtype, at) ? "true" : "false";
  if (dtype == Dtype::U64) return fmt::format("{}", static_cast<uint64_t>(load_as_int64(dtype, at)));
  if (is_integer(dtype)) return fmt::format("{}", load_as_int64(dtype, at));
  const Value value = load_value(dtype, at);
  const int digits = real_part(dtype) == Dtype::F64 ? 17 : 9;
  if (is_complex(dtype)) return fmt::format("{:.{}g}{:+.{}g}i", value.real(), digits, value.imag(), digits);
  return fmt::format("{:.{}g}", value.real(), digits);
}

// The bits of a value of its own format, as an integer that orders like the value.
int64_t pattern(Dtype type, double value) {
  uint64_t bits = 0;
  store_from_double(type, &bits, value);
  const int width = info(type).bits;
  if (width == 64) {
    const int64_t raw = static_cast<int64_t>(bits);
    return raw < 0 ? std::numeric_limits<int64_t>::min() - raw : raw;
  }
  const int64_t sign = int64_t{1} << (width - 1), raw = static_cast<int64_t>(bits);
  return raw & sign ? -(raw & (sign - 1)) : raw;
}

bool part_passes(const Rule& rule, Dtype type, double a, double e) {
  if (rule.kind == Rule::Kind::Exact) return a == e;
  if (rule.kind == Rule::Kind::Ulp) {
    const int64_t distance = ulp_distance(type, a, e);
    return distance >= rule.min_ulp && distance <= rule.max_ulp;
  }
  if (a == e || (std::isnan(a) && std::isnan(e))) return true;
  return std::isfinite(a) && std::isfinite(e) && std::fabs(a - e) <= rule.tolerance;
}

bool passes(const Rule& rule, Dtype type, const Value& a, const Value& e) {
  const auto finite = [](const Value& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); };
  if (rule.kind == Rule::Kind::Relative && finite(a) && finite(e))
    return std::abs(a - e) <= rule.tolerance + rule.rtol * std::abs(e);
  return part_passes(rule, type, a.real(), e.real()) &&
         (!is_complex(type) || part_passes(rule, type, a.imag(), e.imag()));
}

// Part by part where the rule is; the largest difference a reader would look for.
void record_difference(const Value& a, const Value& e, Comparison& result) {
  const double difference = std::abs(a - e), size = std::abs(e);
  if (!std::isfinite(difference)) return;
  result.max_abs = std::max(result.max_abs, difference);
  if (size > 0) result.max_rel = std::max(result.max_rel, difference / size);
}

}  // namespace

Tolerance default_tolerance(Dtype dtype) {
  switch (info(dtype).bits) {
    case 8:
      return {0.13, 0.1};
    case 16:
      return dtype == Dtype::BF16 ? Tolerance{2e-2, 2e-2} : Tolerance{4e-3, 4e-3};
    default:
      return {1e-4, 1e-5};
  }
}

Rule Rule::relative(const Tolerance& tolerance) {
  return {.kind = Kind::Relative, .tolerance = tolerance.atol, .rtol = tolerance.rtol};
}

int64_t ulp_distance(Dtype type, double a, double b) {
  type = real_part(type);
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kFar;
  const int64_t x = pattern(type, a), y = pattern(type, b);
  const uint64_t distance = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                                  : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  return distance > static_cast<uint64_t>(kFar) ? kFar : static_cast<int64_t>(distance);
}

Comparison compare(const Elements& actual, const Elements& expected, int64_t count, const Rule& rule) {
  const bool exact = is_exact(actual.dtype) && is_exact(expected.dtype);
  // Equal bits need no arithmetic, unless the rule refuses NaN or wants a distance.
  const bool equal_bits_pass = actual.dtype == expected.dtype && (exact || rule.kind != Rule::Kind::Exact) &&
                               (rule.kind != Rule::Kind::Ulp || rule.min_ulp == 0);
  const int64_t width = size_bytes(actual.dtype);
  const int64_t step_a = width * actual.step, step_e = size_bytes(expected.dtype) * expected.step;
  Comparison result;
  result.num_elements = count;
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *a = actual.data + i * step_a, *e = expected.data + i * step_e;
    if (equal_bits_pass && std::memcmp(a, e, static_cast<size_t>(width)) == 0) continue;
    const Value value = load_value(actual.dtype, a), wanted = load_value(expected.dtype, e);
    record_difference(value, wanted, result);
    const bool pass = exact ? load_as_int64(actual.dtype, a) == load_as_int64(expected.dtype, e)
                            : passes(rule, actual.dtype, value, wanted);
    if (pass) continue;
    if (++result.num_wrong > 1) continue;
    result.first_wrong = i;
    result.first_values = fmt::format("got {}, expected {}", text(actual.dtype, a), text(expected.dtype, e));
  }
  return result;
}

Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  const Dtype type = info(actual.dtype).numpy == info(expected.dtype).numpy ? actual.dtype : expected.dtype;
  return compare({actual.dtype, actual.bytes.data()}, {type, expected.bytes.data()}, actual.num_elements(),
                 Rule::relative(tolerance));
}

std::string index_text(const std::vector<int64_t>& dims, int64_t flat) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; flat /= dims[d]) index[d] = flat % dims[d];
  return fmt::format("[{}]", fmt::join(index, ","));
}

Status compare_output(size_t number, const std::string& name, const Array& actual, const Array& expected,
                      const Tolerance& tolerance) {
  const std::string which = fmt::format("{} '{}'", number, name);
  if (actual.shape != expected.shape)
    return error(Code::ERUN002, which,
                 fmt::format("its shape is [{}], expected [{}]", fmt::join(actual.shape, ","),
                             fmt::join(expected.shape, ",")));
  const bool raw = info(actual.dtype).numpy == info(expected.dtype).numpy;
  if (!raw && is_complex(actual.dtype) != is_complex(expected.dtype))
    return error(
        Code::ERUN002, which,
        fmt::format("its type is {}, expected {}", info(actual.dtype).hlo, info(expected.dtype).hlo));
  const Comparison result = compare(actual, expected, tolerance);
  if (!result.first_wrong) return Status::ok();
  return error(
      Code::ERUN002, which,
      fmt::format("element {}: {}; {} of {} elements differ, largest difference {:.3g}, relative {:.3g}",
                  index_text(actual.shape, *result.first_wrong), result.first_values, result.num_wrong,
                  result.num_elements, result.max_abs, result.max_rel));
}

Status compare_with_goldens(const std::vector<NamedArray>& results, const std::vector<NamedArray>& goldens,
                            std::string_view after) {
  if (results.size() != goldens.size())
    return error(Code::EVFY001, after,
                 fmt::format("{} outputs, {} expected values", results.size(), goldens.size()));
  for (size_t n = 0; n < results.size(); ++n) {
    const Status same = compare_output(n, results[n].name, results[n].array, goldens[n].array,
                                       default_tolerance(results[n].array.dtype));
    if (!same.is_ok()) return error(Code::EVFY001, after, same.diagnostic().cause);
  }
  return Status::ok();
}

}  // namespace ncc
