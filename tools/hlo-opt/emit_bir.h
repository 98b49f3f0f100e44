// emit_bir: changes the container of tile-level Penguin from statements to BIR; no instruction is chosen
// here.
#pragma once
#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/bir/module.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Tensors become location sets with the same index (scoped ones carry their loop axis), loops become Loop
/// instructions.
Result<bir::Module> emit_bir(const penguin::Module& module, const ArchModel& arch);

}  // namespace ncc::hlo_opt
