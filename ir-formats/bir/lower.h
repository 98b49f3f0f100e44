// From one BIR instruction to machine instructions: what bir_sim executes and code generation packs.
#pragma once
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/bir/access.h"
#include "ir-formats/bir/module.h"

namespace ncc::bir {

struct Lowered {
  std::vector<isa::MachineInst> instructions;   // in issue order, all of one engine
  std::vector<isa::DmaDescriptor> descriptors;  // a DMA's transfers
  void clear() {
    instructions.clear();
    descriptors.clear();
  }
};

/// Appends the machine form of `inst` (not a Loop) to `out`:
///   Matmult          Ldweights, Matmul            StreamShuffle   LoadMaskSelect, StreamShuffle
///   TensorScalarPtr  by its flags: TensorScalar*, ScalarTensorTensor*, TensorTensorScan, or
///   TensorScalarCacheReduce and
///                    DveReadAccumulator          Activation      Activate [, ActivationReadAccumulator]
///   Load, Save, DMACopy, and copies with a DRAM side: descriptors
///   Select           Copy of the false value, CopyPredicated of the true one
/// ALU operations on raw bits choose the *Bitvec opcodes; TensorTensor on Pool with 32-bit integers the exact
/// one. `source` of the result is inst.source. EBIR002 when there is no such machine instruction.
Status lower(const Instruction& inst, const Module& module, const ArchModel& arch, const AccessMap& accesses,
             Lowered& out);

/// EBIR002 naming the instruction and the user's op.
Status illegal(const Module& module, const Instruction& inst, const std::string& what);

}  // namespace ncc::bir
