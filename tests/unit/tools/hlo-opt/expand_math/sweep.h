// Sample values and comparisons shared by the expand_math tests.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/tools/hlo-opt/expand_math/machine_model.h"

namespace ncc::hlo_opt::testing {

inline const std::vector<Dtype> kFloatTypes = {Dtype::F32, Dtype::BF16, Dtype::F16};
inline const std::vector<Dtype> kIntegerTypes = {Dtype::S8,  Dtype::U8,  Dtype::S16,
                                                 Dtype::U16, Dtype::S32, Dtype::U32};

/// Special values, random bit patterns of a float type (all exponents, NaN, infinities, subnormals), and
/// values near 0, 1 and integers, in [-10, 10] and [-100, 100]. Of the 16-bit types, every seventh pattern
/// when `is_large`.
Array sample_floats(Dtype dtype, uint64_t seed, bool is_large = true);
/// Random values of all magnitudes, the extremes, small values and powers of two with their neighbours.
Array sample_integers(Dtype dtype, uint64_t seed, int count = 1500);
/// All pairs of special values, then random pairs; two arrays of one length.
std::pair<Array, Array> sample_float_pairs(Dtype dtype, uint64_t seed);
std::pair<Array, Array> sample_integer_pairs(Dtype dtype, uint64_t seed);

/// Runs on trn1 and trn2; each result must be within `max_ulp` of `truth` (computed in double, rounded once)
/// and equal in the sign of zeros when max_ulp is 0 or truth is a zero of an exact argument. Returns the
/// largest distance seen.
int64_t check_float(const std::string& name, const Call& call,
                    const std::function<double(const std::vector<double>&)>& truth, int64_t max_ulp);
/// The same for integer results, exactly.
void check_integer(const std::string& name, const Call& call,
                   const std::function<int64_t(const std::vector<int64_t>&)>& truth);

}  // namespace ncc::hlo_opt::testing
