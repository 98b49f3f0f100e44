// fold: computes on constants at compile time.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// A Map of scalars alone becomes a copy of the scalar, and later readers see the scalar. Conversions, sums
/// and products of an index with integer scalars become a copy of another index, where every value is exact
/// in the result type. compose_accesses forwards those copies.
Status fold(penguin::Module& module);

}  // namespace ncc::hlo_opt
