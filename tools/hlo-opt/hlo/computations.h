// Whole computations as values: copies and equality.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo_passes {

/// The computations whose instructions are steps of the program, the entry first, and not bodies that an op
/// applies to elements.
std::vector<hlo::Computation*> step_computations(const hlo::Module& module);

/// A copy in the same module, under a fresh name; what it calls is shared.
hlo::Computation* clone_computation(const hlo::Computation& computation);

/// Everything an instruction does beside its operands, callees, name and location is equal: opcode, result
/// shape, attributes, literal.
bool same_operation(const hlo::Instruction& a, const hlo::Instruction& b);

/// Maps every computation to the first one of the module that is equal to it (to itself when there is none
/// before it). Equal: same instructions in storage order, same operands, equal callees. Effects are compared
/// like everything else.
std::unordered_map<const hlo::Computation*, hlo::Computation*> equal_computations(const hlo::Module& module);

}  // namespace ncc::hlo_passes
