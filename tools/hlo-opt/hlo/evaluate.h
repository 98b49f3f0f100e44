// One instruction, evaluated on constants by the reference interpreter.
#pragma once
#include <optional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// The result, or nothing when the interpreter refuses the op or the program's own assertion fails.
std::optional<Literal> evaluate(const Instruction& inst, std::vector<Literal> operands);

/// Scalar operations that evaluating takes, roughly; INT64_MAX where it cannot be told (loops, custom-calls).
int64_t work_of(const Instruction& inst);

}  // namespace ncc::hlo_passes
