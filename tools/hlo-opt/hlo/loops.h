// What can be said about a while loop: invariant elements of its state, its trip count.
#pragma once
#include <optional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// A loop over a tuple state whose body ends in a tuple: the form that passes work on.
bool has_tuple_state(const Instruction& loop);

/// True when the body hands element `i` of the state on as it is.
bool is_invariant(const Instruction& loop, int64_t i);

/// The initial value of element `i`, when the operand of the loop is a tuple instruction; else nullptr.
Instruction* initial_element(const Instruction& loop, int64_t i);

/// How often the body runs, when that follows from constants alone: in closed form for `i < n` and its kin
/// with a constant step, else by running the scalars that the condition depends on, at most `max_steps`
/// times.
std::optional<int64_t> trip_count(const Instruction& loop, int64_t max_steps);

}  // namespace ncc::hlo_passes
