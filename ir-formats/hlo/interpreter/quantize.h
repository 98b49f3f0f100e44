// Quantized element types: real = (stored - zero_point) * scale, per tensor or per index of one dimension.
// Source: spec/stablehlo-text.md §3.11.
#pragma once
#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

/// True when an op on quantized operands or results means: dequantize, compute in the expressed type,
/// quantize. Ops that only move or choose elements work on the stored values instead.
bool computes_dequantized(const Instruction& inst);

/// Such an op.
Result<Literal> eval_quantized(Evaluator& evaluator, const Instruction& inst, Operands& operands);

/// Stored values of `shape` (quantized) as the expressed type, and back: clamp, round to nearest even.
Literal dequantized(const Literal& stored, const Shape& shape);
Literal quantized(const Literal& real, const Shape& shape);

}  // namespace ncc::hlo
