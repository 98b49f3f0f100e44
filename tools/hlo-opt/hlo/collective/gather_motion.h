// All-gathers that a loop need not repeat: gathered before the loop and carried in its state. Gathering
// before the loop happens also when the loop does not run; that takes time but changes nothing. Source:
// spec/hlo-front-half.md §4.16, §4.19.
#pragma once
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// Larger values are not carried.
inline constexpr int64_t kMaxCarriedBytes = int64_t{1} << 30;

/// get-tuple-element of the state of the loop whose body has `value`.
bool is_state_element(const Instruction* value);
/// An array of the state that the body hands on as it is.
bool is_invariant_element(const Instruction& loop, const Instruction* value);

/// In the body of `loop`: the last element of the state, which add_invariants has appended.
Instruction* carried(ComputationEditor& body, const Instruction& loop);

/// Moves one all-gather out of the loop: the loop that replaces it, or nullptr when it does not apply.
using GatherMove = Instruction* (*)(ComputationEditor& edit, Instruction* loop, Instruction* gather);

/// Tries every all-gather of every loop that owns its state.
Status move_gathers(hlo::Module& module, int64_t& changes, GatherMove move);

}  // namespace ncc::hlo_passes
