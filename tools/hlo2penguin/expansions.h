// Ops without a lowering of their own become ops that have one, on a copy of the model: results are held
// against what the model says. Which ops, and by which HLO pass, is in expansions.def.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

/// Some op of the module has a row whose condition holds, or some value is complex.
bool needs_expansion(const hlo::Module& module);
/// The op is in the table, in every form.
bool is_expanded(hlo::Opcode opcode);

/// Rewrites the module; its calls are inlined. Complex parameters and results become planes
/// (complex_interface.h).
Status expand(hlo::Module& module);

}  // namespace ncc::hlo2penguin
