// The scalar functions of functions.def on blocks: plain code, one double or int64 computation per element
// and one rounding.
#pragma once
#include <cstdint>
#include <span>

#include "ir-formats/penguin/interpret/lanes.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// The type in which an operand of `function` is loaded: its own, or raw bits for the bitcasts.
Dtype load_type(ScalarFunction function, Dtype operand);
/// How the result is rounded to its type. Operations on raw bits keep the low bits.
Rounding rounding_of(ScalarFunction function, const TensorAttributes& attributes);

/// result[i] = function(operands[0][i], …) for i < count. `result.dtype` is the type to be stored; bitcasts
/// leave raw bits of the same width. Operands are loaded as `load_type` says. Supported combinations: every
/// one that the HLO op of that name allows on the dtypes that Penguin carries.
void evaluate(ScalarFunction function, const TensorAttributes& attributes, std::span<const Lanes> operands,
              Lanes& result, int64_t count);

/// The same for one element given and returned as raw bits.
uint64_t evaluate_scalar(ScalarFunction function, const TensorAttributes& attributes,
                         std::span<const Operand> scalars, Dtype result);

}  // namespace ncc::penguin
