// The op functions, one declaration per row of eval_table.def.
#pragma once
#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

#define EVAL(opcode, function) \
  Result<Literal> function(Evaluator& evaluator, const Instruction& inst, Operands& operands);
#include "ir-formats/hlo/interpreter/eval_table.def"

/// The custom call `interpreter.run_parallel`.
Result<Literal> run_parallel(const Instruction& inst, Operands& operands);

}  // namespace ncc::hlo
