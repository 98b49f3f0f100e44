// Counted loops that expanders build.
#pragma once
#include <functional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// One step: from the step number (s32[]) and the values before to the values after, which have the same
/// shapes. Builds with the editor that it is given.
using LoopStep = std::function<std::vector<Instruction*>(ComputationEditor& edit, Instruction* step,
                                                         const std::vector<Instruction*>& values)>;

/// The values after steps 0 … count-1: one copy of the step after the other up to `kUnrolledSteps`, a while
/// loop above. A value that no step changes stays what it is in unrolled form.
std::vector<Instruction*> counted_loop(ComputationEditor& edit, int64_t count,
                                       std::vector<Instruction*> values, const LoopStep& step);

inline constexpr int64_t kUnrolledSteps = 32;

}  // namespace ncc::hlo_passes
