// The Machine rows of functions.def: one engine instruction's arithmetic on fp32 operands or raw bits.
#pragma once
#include <span>

#include "ir-formats/penguin/interpret/lanes.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// Alu, Int32, Activation.
void evaluate_machine(ScalarFunction function, const TensorAttributes& attributes,
                      std::span<const Lanes> operands, Lanes& result, int64_t count);
/// Copy of floats into an integer type: nearest even, saturating.
void copy_machine(std::span<const Lanes> operands, Lanes& result, int64_t count);

}  // namespace ncc::penguin
