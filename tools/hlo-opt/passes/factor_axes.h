// factor_axes: brings every access to an on-chip candidate into the form "tensor dim = constant + coef * one
// axis" (DESIGN section 14, C1).
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Splits iteration axes and the dims of Internal tensors at every factor that a reshape in the function
/// needs. An Internal tensor for which no common factoring exists keeps its shape and is marked Space::Dram:
/// its accesses stay arbitrary affine ones, which only DMA patterns can express. Inputs, Outputs and
/// constants are never reshaped. Linear in accesses per split; splits only shrink extents.
Status factor_axes(penguin::Module& module);

}  // namespace ncc::hlo_opt
