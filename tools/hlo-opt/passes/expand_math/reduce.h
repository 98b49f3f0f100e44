// Reductions that the engines' fp32 fold would get wrong.
#pragma once
#include <functional>

#include "tools/hlo-opt/passes/expand_math/statements.h"

namespace ncc::hlo_opt::math_expansion {

/// What is known of an operand's elements.
using RangeOf = std::function<Range(const penguin::Operand&)>;

/// The engines fold this exactly as it stands: floats by add, multiply, maximum, minimum into a result of
/// full precision, predicates by and/or, integers by bit operations or by fp32 arithmetic that cannot lose a
/// bit; the init value is the identity.
bool is_machine_reduce(const penguin::Inst& inst, const penguin::Function& function, const RangeOf& range_of);

/// Statements with the same result, of Model-level Maps and machine Reduces.
void expand_reduce(const penguin::Inst& inst, const RangeOf& range_of, Statements& statements);

}  // namespace ncc::hlo_opt::math_expansion
