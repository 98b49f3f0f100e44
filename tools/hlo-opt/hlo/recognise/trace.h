// Which dimension of one value is which of another that it was made of: a sum that is spread over the wrong
// dimension is no part of a pattern, though the ops are the same.
#pragma once
#include <optional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// In place of a dimension number.
inline constexpr int64_t kSpread =
    -1;  // the source does not vary along it: made by a broadcast, or of size 1
inline constexpr int64_t kUnknown = -2;  // a reshape joined or split it

/// For each dimension of `value` the dimension of `source`, from which elementwise ops and ops that compute
/// nothing make it. Nothing when they do not.
std::optional<Dims> traced_dimensions(const Instruction* value, const Instruction* source);

/// inst has two operands of one shape: one made of `source`, one of `reduce`, which reduces something made of
/// `source` (by elementwise ops) too. True when the reduction meets the elements that it is over, as far as
/// can be told.
bool meets_its_source(const Instruction* inst, const Instruction* reduce, const Instruction* source);

}  // namespace ncc::hlo_passes
