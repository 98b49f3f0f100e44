// The verifiers of the two levels. Labels in the comments of verify.cc are cited by test names.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// The level is told from the statements: any tile-level instruction makes a function tile level. EPEN001
/// names function and statement, with the user's op.
Status verify(const Module& module);
Status verify_tensor_level(const Module& module, const Function& function);
Status verify_tile_level(const Module& module, const Function& function);

/// Any instruction is tile level.
bool is_tile_level(const Function& function);

}  // namespace ncc::penguin
