// What loops over index vectors (gather, scatter) share.
#pragma once
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// All index vectors of an indices array as rows: [vectors, components], in the row-major order of the other
/// dimensions. Element types narrower than 32 bits become s32.
Instruction* index_rows(ComputationEditor& edit, Instruction* indices, int64_t index_vector_dim);

/// Component `k` of row `step`, clamped to [low, high], as s32[]. Unsigned components clamp from 0.
Instruction* clamped_component(ComputationEditor& edit, Instruction* rows, Instruction* step, int64_t k,
                               int64_t low, int64_t high);

/// Coordinate `d` of the `step`-th point of an array of these sizes, as s32[].
Instruction* coordinate(ComputationEditor& edit, Instruction* step, const Dims& sizes, size_t d);

}  // namespace ncc::hlo_passes
