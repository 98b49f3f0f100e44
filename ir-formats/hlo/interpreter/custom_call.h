// Custom calls that have a meaning: one row a target in custom_calls.def, linear algebra routines in
// solver_routines.def.
#pragma once
#include <string_view>

#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

/// The implementation of a target that is a routine of a linear algebra library
/// (`lapack_sgetrf_ffi`, `cusolver_getrf_ffi`, `hipsolver_getrf_ffi`); null when it is none.
EvalFunction solver_function(std::string_view target);

#define CUSTOM_CALL(target, function) \
  Result<Literal> function(Evaluator& evaluator, const Instruction& inst, Operands& operands);
#define REFUSED_CALL(start, reason)
#include "ir-formats/hlo/interpreter/custom_calls.def"

}  // namespace ncc::hlo
