// What every reader establishes before it hands out a module, and the verifier checks again: roots,
// parameters, arities, acyclic operands and calls, constants with values.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Sorts every computation, fills the entry's caller-side shapes when none were given, and checks the
/// structure. EVRF003 on the first violation.
Status finish_module(Module* module);
/// The checks alone.
Status check_structure(const Module& module);

}  // namespace ncc::hlo
