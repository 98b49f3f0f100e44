// Custom-calls that frameworks write for the reference compiler: their targets and configurations. The passes
// that open them leave a call with another number of operands, or a configuration that is no number in range;
// the lowering then names it. Source: spec/hlo-front-half.md §4.1-§4.4.
#pragma once
#include <optional>
#include <string_view>

#include "tools/hlo-opt/hlo/expand/formula.h"

namespace ncc::hlo_passes {

/// Without side effects.
bool calls(const Instruction& inst, std::string_view target);

/// The configuration as a bare decimal below `limit`.
std::optional<int64_t> config_number(const Instruction& inst, int64_t limit);

/// The configuration as the axis of a normalisation: counted from the end when negative, the last one when
/// not given.
std::optional<int64_t> config_axis(const Instruction& inst);

/// The fold of x along the axis, repeated along it.
Value folded_along(Value x, int64_t axis, Opcode op, double initial);

}  // namespace ncc::hlo_passes
