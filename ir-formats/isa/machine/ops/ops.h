// Instruction semantics, one function per family; each reads operands, computes, writes, marks bytes written.
// Operand roles are stated at isa::MachineInst. Errors: ESIM001 (refused), ESIM003 (unwritten read), ESIM005
// (activation range).
#pragma once
#include <array>

#include "common/diag/status.h"
#include "ir-formats/isa/machine/rows.h"
#include "ir-formats/isa/machine/state.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

// matmul.cc
Status execute_ldweights(State& state, const isa::MachineInst& inst);
Status execute_matmul(State& state, const isa::MachineInst& inst);
// activation.cc
Status execute_activate(State& state, const isa::MachineInst& inst);
// elementwise.cc
Status execute_tensor_tensor(State& state, const isa::MachineInst& inst);
Status execute_tensor_scalar(State& state, const isa::MachineInst& inst);
Status execute_scalar_tensor_tensor(State& state, const isa::MachineInst& inst);
Status execute_reciprocal(State& state, const isa::MachineInst& inst);
// scan.cc
Status execute_scan(State& state, const isa::MachineInst& inst);
Status execute_cache_reduce(State& state, const isa::MachineInst& inst);
Status execute_read_accumulator(State& state, const isa::MachineInst& inst);
// reduce.cc
Status execute_reduce(State& state, const isa::MachineInst& inst);
Status execute_cross_lane_reduce(State& state, const isa::MachineInst& inst);
// copy.cc
Status execute_copy(State& state, const isa::MachineInst& inst);
Status execute_memset(State& state, const isa::MachineInst& inst);
Status execute_copy_predicated(State& state, const isa::MachineInst& inst);
// affine.cc
Status execute_iota(State& state, const isa::MachineInst& inst);
Status execute_affine_select(State& state, const isa::MachineInst& inst);
// lanes.cc
Status execute_load_mask(State& state, const isa::MachineInst& inst);
Status execute_stream_shuffle(State& state, const isa::MachineInst& inst);
Status execute_stream_transpose(State& state, const isa::MachineInst& inst);
// dma.cc
Status execute_dma(State& state, const isa::DmaDescriptor& descriptor);
// registers.cc
Status execute_register(State& state, const isa::MachineInst& inst);

/// Resolves an on-chip data operand of a compute engine with an element the engine computes on.
Status resolve_data(State& state, const isa::Access& access, State::Use use, const char* what, View& view);
/// Resolves in0 and out (and in1 when present) of equal partitions and elements per partition.
struct Operands {
  View in0, in1, out;
};
Status resolve_elementwise(State& state, const isa::MachineInst& inst, Operands& operands);

/// A scalar operand's value for every partition of the data.
struct ScalarValues {
  std::array<float, kPartitions> value;    // as fp32
  std::array<uint32_t, kPartitions> bits;  // raw, zero-extended
};
Status resolve_scalar(State& state, const isa::MachineInst& inst, const isa::Scalar& scalar, int partitions,
                      const char* what, ScalarValues& values);

/// Where a row of results may be computed: in place when `out` is dense fp32 and no input row overlaps it
/// partly, else in `scratch`. finish_row stores what was computed elsewhere.
float* begin_row(const View& out, int partition, float* scratch, const float* in0,
                 const float* in1 = nullptr);
void finish_row(const View& out, int partition, const float* row);

}  // namespace ncc::machine
