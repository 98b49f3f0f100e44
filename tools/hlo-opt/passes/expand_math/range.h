// Intervals of values: what lets the expansion leave out work, e.g. compare 32-bit integers that are known to
// be small in fp32.
#pragma once
#include <span>

#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

/// Everything a type can hold; floats: -inf..inf.
Range full_range(Dtype dtype);

/// The interval of an operation's result. Sound, not tight: operations it does not model give the full range
/// of the type.
Range result_range(const Node& op, std::span<const Node* const> operands);

/// Every element is an integer that fp32 holds exactly. Comparison with a value of any size is then exact
/// too, because widening keeps order and no larger integer widens into this range.
inline bool is_exact_in_f32(Range range) { return range.low > -0x1p24 && range.high < 0x1p24; }
inline bool is_non_negative(Range range) { return range.low >= 0; }

}  // namespace ncc::hlo_opt::math_expansion
