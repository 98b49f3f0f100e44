// Instruction attributes between the wire message and memory. Both directions go by which fields are set, not
// by opcode, so that nothing is lost for ops that carry unusual ones. Internal to the proto reader and
// writer.
#pragma once
#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Fills everything but name, opcode, shape, operands, called computations, literal and location.
Status attributes_from_wire(wire::HloInstructionProto* proto, Instruction* inst);
void attributes_to_wire(const Instruction& inst, wire::HloInstructionProto* proto);

}  // namespace ncc::hlo
