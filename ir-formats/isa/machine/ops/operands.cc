// Operand handling shared by the families of instructions.
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::MachineInst;
using isa::Scalar;

Status resolve_data(State& state, const isa::Access& access, State::Use use, const char* what, View& view) {
  if (access.space == isa::Space::Dram) return illegal("{} of a compute instruction is in DRAM", what);
  if (access.present() && !is_computable(access.dtype))
    return illegal("{} has element type {}, which engines do not compute on", what, info(access.dtype).hlo);
  return state.resolve_operand(access, use, what, view);
}

namespace {

Status same_shape(const View& a, const char* a_name, const View& b, const char* b_name) {
  if (a.partitions == b.partitions && a.elements == b.elements) return Status::ok();
  return illegal("{} is {} partitions x {} elements, {} is {} x {}", a_name, a.partitions, a.elements, b_name,
                 b.partitions, b.elements);
}

}  // namespace

Status resolve_elementwise(State& state, const MachineInst& inst, Operands& operands) {
  NCC_TRY(resolve_data(state, inst.in0, State::Use::Read, "in0", operands.in0));
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", operands.out));
  NCC_TRY(same_shape(operands.in0, "in0", operands.out, "out"));
  if (!inst.in1.present()) return Status::ok();
  NCC_TRY(resolve_data(state, inst.in1, State::Use::Read, "in1", operands.in1));
  return same_shape(operands.in1, "in1", operands.out, "out");
}

Status resolve_scalar(State& state, const MachineInst& inst, const Scalar& scalar, int partitions,
                      const char* what, ScalarValues& values) {
  if (scalar.kind == Scalar::Kind::Pointer) {
    View view;
    NCC_TRY(resolve_data(state, scalar.pointer, State::Use::Read, what, view));
    if (view.partitions != partitions || view.elements != 1)
      return illegal("{} is {} partitions x {} elements, the data has {} partitions", what, view.partitions,
                     view.elements, partitions);
    for (int p = 0; p < partitions; ++p) {
      load_row(view, p, &values.value[static_cast<size_t>(p)]);
      load_row_bits(view, p, false, &values.bits[static_cast<size_t>(p)]);
    }
    return Status::ok();
  }
  uint32_t bits = scalar.bits;
  if (scalar.kind == Scalar::Kind::Register)
    bits = static_cast<uint32_t>(state.registers[static_cast<size_t>(inst.engine)][scalar.reg & 63].value);
  else if (scalar.kind == Scalar::Kind::None)
    return illegal("{} is missing", what);
  values.bits.fill(bits);
  values.value.fill(std::bit_cast<float>(bits));
  return Status::ok();
}

float* begin_row(const View& out, int partition, float* scratch, const float* in0, const float* in1) {
  if (out.dtype != Dtype::F32 || !out.contiguous()) return scratch;
  float* row = reinterpret_cast<float*>(out.row(partition));
  for (const float* in : {in0, in1})
    if (in != nullptr && in != row && in < row + out.elements && row < in + out.elements) return scratch;
  return row;
}

void finish_row(const View& out, int partition, const float* row) {
  if (reinterpret_cast<const std::byte*>(row) != out.row(partition)) store_row(out, partition, row);
}

}  // namespace ncc::machine
