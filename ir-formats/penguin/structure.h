// Structural soundness: what readers guarantee and every walk relies on.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// At least one function; every tensor, axis and instruction reference is in range; statements have the parts
/// of their kind; sizes are non-negative and their products fit. EPEN001 naming the function and statement.
Status check_structure(const Module& module);

}  // namespace ncc::penguin
