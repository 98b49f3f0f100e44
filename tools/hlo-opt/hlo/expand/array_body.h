// Bodies on scalars (of reduce, scatter, map, …) applied to whole arrays.
#pragma once
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// Parameters and elementwise ops on scalars and constants alone: what `applied_body` takes.
bool is_elementwise_body(const Computation& body);

/// The root of the body with arrays of one shape for its parameters. Elements are converted where the body is
/// wider than the arrays; a tuple root gives a tuple.
Instruction* applied_body(ComputationEditor& edit, const Computation& body,
                          const std::vector<Instruction*>& arguments);

}  // namespace ncc::hlo_passes
