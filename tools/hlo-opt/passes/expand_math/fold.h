// The machine's scalar arithmetic, as far as constant folding needs it. Results equal what the instruction
// would give.
#pragma once
#include <optional>
#include <span>

#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

/// The value of an element of `dtype` widened to fp32 (integers round to nearest even).
float widen(Dtype dtype, uint64_t bits);
/// fp32 to an element of `dtype`: floats round to nearest even; integers round to nearest even and saturate,
/// NaN gives the maximum, or the minimum when its sign bit is set.
uint64_t narrow(Dtype dtype, float value);

/// The result bits of a machine operation on constants; nullopt where the operation is left to the machine
/// (activation functions).
std::optional<uint64_t> fold(const Node& op, std::span<const Node* const> operands);

}  // namespace ncc::hlo_opt::math_expansion
