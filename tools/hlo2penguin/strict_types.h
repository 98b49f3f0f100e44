#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

/// --strict-dtypes: EVRF002 at the first op whose element type the device has only in a narrower form (64-bit
/// floats and integers, and complex numbers of 64-bit floats). `exact_integers`: integers are not narrowed.
Status check_strict_types(const hlo::Module& module, bool exact_integers);

}  // namespace ncc::hlo2penguin
