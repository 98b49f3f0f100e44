// Shape inference and the verifier. Constraint labels (add_c1, …) follow the StableHLO specification.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// The result shape that opcode, operands, attributes and called computations imply (layouts default). Ops
/// whose result is free in some part (convert's type, reshape's dims, constants, custom-calls, …) take that
/// part from inst.shape. EVRF004 names the op, what was found and what was expected.
Result<Shape> infer_shape(const Instruction& inst);

/// Checks the whole module: structure, arities, called computations, parameters, and every stated shape
/// against the derived one. The first failure is returned, with the op's location.
Status verify(const Module& module);

}  // namespace ncc::hlo
