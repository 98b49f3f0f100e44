// recognise_activations: replaces open-form activation functions by the machine's own.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Finds values that are an elementwise fp32 function of one tensor, evaluates each on a grid of samples (all
/// magnitudes, both signs, zeros, infinities, NaN) and compares with the machine's Activation functions. A
/// value that agrees everywhere within a few fp32 roundings of its largest term becomes that Activation of
/// the tensor, whatever arithmetic spelled it: GELU through erf, erfc or tanh, SiLU, sigmoid, softplus, erf,
/// tanh. Work is bounded per tensor; tags the instruction with the function's name.
Status recognise_activations(penguin::Module& module);

}  // namespace ncc::hlo_opt
