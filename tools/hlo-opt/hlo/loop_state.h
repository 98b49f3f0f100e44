// Changing what a while loop carries. Both functions ask for a loop over a tuple state (`has_tuple_state`)
// whose body and condition nobody else calls.
#pragma once
#include "tools/hlo-opt/hlo/loops.h"

namespace ncc::hlo_passes {

/// How many instructions of the module call each computation.
std::unordered_map<const Computation*, int64_t> caller_counts(const hlo::Module& module);

/// True when body and condition are this loop's own, and their parameter and the loop's result are only taken
/// apart by get-tuple-element.
bool owns_its_state(ComputationEditor& edit, const Instruction& loop,
                    const std::unordered_map<const Computation*, int64_t>& callers);

/// A loop that carries only the elements with keep[i]; replaces `loop`. Elements that are dropped must not be
/// needed by condition, body or users. Returns the new loop.
Instruction* drop_elements(ComputationEditor& edit, Instruction* loop, const std::vector<bool>& keep);

/// A loop that also carries `values`, unchanged, behind its own elements; replaces `loop`. Returns it.
Instruction* add_invariants(ComputationEditor& edit, Instruction* loop,
                            const std::vector<Instruction*>& values);

}  // namespace ncc::hlo_passes
