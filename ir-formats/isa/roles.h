// What the operands of an opcode are, for those who pack, unpack, print or check them. Rules: MachineInst.
#pragma once
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

/// Whether the instruction has scalar operand 0, 1 or 2 (by opcode, ALU arity, function and accumulator
/// command).
bool uses_scalar(const MachineInst& inst, int index);
/// Bit-vector opcodes: immediates are raw integers, pointer scalars default to in0's dtype.
bool is_bit_operation(Opcode opcode);
/// Opcodes whose in0 keeps inner dims of count 1, because an axis counts them.
bool is_positional(Opcode opcode);
/// Whether the right operand of a branch is a register.
bool is_register_compare(BranchCompare compare);

}  // namespace ncc::isa
