// Results against expected arrays: an element passes when |a - e| <= atol + rtol * |e|; NaN equals NaN,
// infinities compare by sign, integers and predicates are exact. Complex elements are compared by magnitude.
#pragma once
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

struct Comparison {
  int64_t num_elements = 0, num_wrong = 0;
  double max_abs = 0, max_rel = 0;  // over finite pairs
  std::optional<int64_t> first_wrong;
  std::string first_values;  // "got 1, expected 2"
};

/// Arrays of equal shape; `expected` may hold raw bits of `actual`'s type, or another real type.
Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance);

/// As a Status: ERUN002 naming output, index and values.
Status compare_output(size_t number, const std::string& name, const Array& actual, const Array& expected,
                      const Tolerance& tolerance);

/// Every result against its golden, by default_tolerance of its type. EVFY001 names `after` (a stage or pass)
/// and the first result that differs.
Status compare_with_goldens(const std::vector<NamedArray>& results, const std::vector<NamedArray>& goldens,
                            std::string_view after);

}  // namespace ncc
