// Results against expected values, element by element. One rule says how close they must be; integers and
// predicates must be equal under every rule.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "common/diag/status.h"
#include "common/npy/array_folder.h"
#include "common/npy/npy.h"

namespace ncc {

struct Tolerance {
  double rtol = 0, atol = 0;
};

/// What one rounding-order difference may cost in a result of this type, when nobody states a tolerance: fp32
/// results of long sums agree to about 1e-4, 16-bit ones to a few of their own last places.
Tolerance default_tolerance(Dtype dtype);

/// How an element must agree with its expected value. Complex elements are compared part by part, except by
/// Relative.
struct Rule {
  enum class Kind : uint8_t {
    Exact,     // equal by ==: -0 equals +0, NaN equals nothing
    Ulp,       // distance in [min_ulp, max_ulp]; equal infinities and NaN pairs pass
    Absolute,  // both NaN, or equal, or finite and |a - e| <= tolerance
    Relative,  // the same with |a - e| <= atol + rtol * |e|, complex by magnitude; infinities by sign
  };
  Kind kind = Kind::Exact;
  int64_t min_ulp = 0, max_ulp = 0;
  double tolerance = 0, rtol = 0;  // Absolute: tolerance; Relative: tolerance = atol

  static Rule relative(const Tolerance& tolerance);
};

/// Distance in units of the last place between two values of a float type; int64 max when one is not finite
/// and they differ; 0 for NaN pairs and for zeros of either sign.
int64_t ulp_distance(Dtype type, double a, double b);

/// Every `step`-th element of an array.
struct Elements {
  Dtype dtype = Dtype::F32;
  const std::byte* data = nullptr;
  int64_t step = 1;
};

struct Comparison {
  int64_t num_elements = 0, num_wrong = 0;
  double max_abs = 0, max_rel = 0;  // over finite pairs
  std::optional<int64_t> first_wrong;
  std::string first_values;  // "got 1, expected 2"
};

/// The first `count` elements of each side; both real or both complex.
Comparison compare(const Elements& actual, const Elements& expected, int64_t count, const Rule& rule);

/// Arrays of equal shape; `expected` may hold raw bits of `actual`'s type, or another real type.
Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance);

/// The position of a row-major element, as "[1,0,3]".
std::string index_text(const std::vector<int64_t>& dims, int64_t flat);

/// As a Status: ERUN002 naming output, index and values.
Status compare_output(size_t number, const std::string& name, const Array& actual, const Array& expected,
                      const Tolerance& tolerance);

/// Every result against its golden, one for one, by default_tolerance of its type. EVFY001 names `after` (a
/// stage or pass) and the first result that differs.
Status compare_with_goldens(const std::vector<NamedArray>& results, const std::vector<NamedArray>& goldens,
                            std::string_view after);

}  // namespace ncc
