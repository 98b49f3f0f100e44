// Contractions that the PE cannot compute as they stand.
#pragma once
#include "tools/hlo-opt/passes/expand_math/reduce.h"

namespace ncc::hlo_opt::math_expansion {

/// Float operands of types that the PE takes together.
bool is_machine_contract(const penguin::Inst& inst);

/// Statements with the same result: Contracts of floats, whose sums are exact where the operands are
/// integers.
void expand_contract(const penguin::Inst& inst, const RangeOf& range_of, Statements& statements);

}  // namespace ncc::hlo_opt::math_expansion
