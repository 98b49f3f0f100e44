#include "common/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace ncc {
namespace {

using Value = std::complex<double>;

bool is_exact(Dtype dtype) { return is_integer(dtype) || dtype == Dtype::Pred; }

Value load_value(Dtype dtype, const std::byte* at) {
  if (dtype == Dtype::C64) return {load_as_double(Dtype::F32, at), load_as_double(Dtype::F32, at + 4)};
  if (dtype == Dtype::C128) return {load_as_double(Dtype::F64, at), load_as_double(Dtype::F64, at + 8)};
  return load_as_double(dtype, at);
}

std::string text(Dtype dtype, const std::byte* at) {
  if (dtype == Dtype::Pred) return load_as_int64(dtype, at) ? "true" : "false";
  if (dtype == Dtype::U64) return fmt::format("{}", static_cast<uint64_t>(load_as_int64(dtype, at)));
  if (is_integer(dtype)) return fmt::format("{}", load_as_int64(dtype, at));
  const Value value = load_value(dtype, at);
  if (is_complex(dtype)) return fmt::format("{:.9g}{:+.9g}i", value.real(), value.imag());
  return fmt::format("{:.9g}", value.real());
}

bool same_non_finite(double a, double e) { return (std::isnan(a) && std::isnan(e)) || a == e; }

// Sets the differences; returns whether the pair passes.
bool passes(const Value& a, const Value& e, const Tolerance& tolerance, Comparison& result) {
  const auto finite = [](const Value& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); };
  if (!finite(a) || !finite(e))
    return same_non_finite(a.real(), e.real()) && same_non_finite(a.imag(), e.imag());
  const double difference = std::abs(a - e), size = std::abs(e);
  result.max_abs = std::max(result.max_abs, difference);
  if (size > 0) result.max_rel = std::max(result.max_rel, difference / size);
  return difference <= tolerance.atol + tolerance.rtol * size;
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

Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  const Dtype type = info(actual.dtype).numpy == info(expected.dtype).numpy ? actual.dtype : expected.dtype;
  const bool exact = is_exact(actual.dtype) && is_exact(type);
  const int64_t step_a = size_bytes(actual.dtype), step_e = size_bytes(type);
  Comparison result;
  result.num_elements = actual.num_elements();
  for (int64_t i = 0; i < result.num_elements; ++i) {
    const std::byte *a = actual.bytes.data() + i * step_a, *e = expected.bytes.data() + i * step_e;
    // Equal bits need no arithmetic; NaN and integers included.
    if (type == actual.dtype && std::memcmp(a, e, static_cast<size_t>(step_a)) == 0) continue;
    const bool pass = exact ? load_as_int64(actual.dtype, a) == load_as_int64(type, e)
                            : passes(load_value(actual.dtype, a), load_value(type, e), tolerance, result);
    if (exact && !pass)
      result.max_abs =
          std::max(result.max_abs, std::abs(load_as_double(actual.dtype, a) - load_as_double(type, e)));
    if (pass) continue;
    if (++result.num_wrong > 1) continue;
    result.first_wrong = i;
    result.first_values = fmt::format("got {}, expected {}", text(actual.dtype, a), text(type, e));
  }
  return result;
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
  std::vector<int64_t> index(actual.shape.size());
  int64_t flat = *result.first_wrong;
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = flat % actual.shape[i];
    flat /= actual.shape[i];
  }
  return error(
      Code::ERUN002, which,
      fmt::format("element [{}]: {}; {} of {} elements differ, largest difference {:.3g}, relative {:.3g}",
                  fmt::join(index, ","), result.first_values, result.num_wrong, result.num_elements,
                  result.max_abs, result.max_rel));
}

Status compare_with_goldens(const std::vector<NamedArray>& results, const std::vector<NamedArray>& goldens,
                            std::string_view after) {
  for (size_t n = 0; n < results.size() && n < goldens.size(); ++n) {
    const Status same = compare_output(n, results[n].name, results[n].array, goldens[n].array,
                                       default_tolerance(results[n].array.dtype));
    if (!same.is_ok()) return error(Code::EVFY001, after, same.diagnostic().cause);
  }
  return Status::ok();
}

}  // namespace ncc
