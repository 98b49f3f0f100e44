// The generic implementation of every elementwise op, through its kernel.
#pragma once
#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

Result<Literal> eval_elementwise(Evaluator& evaluator, const Instruction& inst, Operands& operands);

}  // namespace ncc::hlo
