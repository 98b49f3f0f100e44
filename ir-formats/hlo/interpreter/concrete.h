// Programs with dynamic dimensions: before such an op runs, its result shape is derived from the sizes that
// its operands really have (and from the values of shape operands). Source: spec/stablehlo-text.md §3.10.
#pragma once
#include <deque>

#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

/// An instruction with static shapes and the stand-ins for its operands.
struct Concrete {
  std::deque<Instruction> operands;
  Instruction inst;
};

/// True for an op on data whose stated shapes do not say all sizes. Calls, control flow and tuples only pass
/// values on and need no sizes.
bool needs_concrete_sizes(const Instruction& inst);

/// Fills `concrete` for these operand values. Errors: EVRF004 (sizes that do not go together), EVRF001 (a
/// result size that cannot be derived), ERUN003 (a negative size asked for).
Status make_concrete(const Instruction& inst, const Operands& values, Concrete& concrete);

}  // namespace ncc::hlo
