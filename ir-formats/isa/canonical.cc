// Canonical forms: one spelling per meaning, so that encoding is a bijection on them. Rules: machine_inst.h.
#include <algorithm>

#include "ir-formats/isa/machine_inst.h"
#include "ir-formats/isa/roles.h"

namespace ncc::isa {
namespace {

struct Dims {
  uint8_t& rank;
  std::array<Dim, kMaxFreeDims>& dims;
};

void clear_from(Dims d, int first) {
  for (int i = first; i < kMaxFreeDims; ++i) d.dims[i] = Dim{};
}

void drop_unit_dims(Dims d) {
  int kept = 0;
  for (int i = 0; i < d.rank; ++i)
    if (d.dims[i].count != 1) d.dims[kept++] = d.dims[i];
  d.rank = static_cast<uint8_t>(std::max(kept, 1));
  clear_from(d, kept);
}

void drop_outer_unit_dims(Dims d) {
  int first = 0;
  while (first + 1 < d.rank && d.dims[first].count == 1) ++first;
  for (int i = first; i < d.rank; ++i) d.dims[i - first] = d.dims[i].count == 1 ? Dim{} : d.dims[i];
  d.rank = static_cast<uint8_t>(std::max(d.rank - first, 1));
  clear_from(d, d.rank);
}

void canonicalize_access(Access& access, bool positional) {
  if (!access.present()) {
    access = Access{};
    return;
  }
  if (access.dtype == Dtype::Pred) access.dtype = Dtype::U8;
  if (access.space != Space::Dram) access.variable = -1;
  const Dims dims{access.rank, access.dims};
  positional ? drop_outer_unit_dims(dims) : drop_unit_dims(dims);
}

// Splits two patterns of equal element count into common dims, innermost first. False when a count of one
// does not divide the other or the result needs more than four dims; then both stay as they were.
bool refine_together(Dims a, Dims b) {
  std::array<Dim, kMaxFreeDims> left{}, right{};  // innermost first
  int rank = 0, i = a.rank - 1, j = b.rank - 1;
  Dim x = a.dims[i], y = b.dims[j];
  while (true) {
    const int64_t common = std::min(x.count, y.count);
    if (rank == kMaxFreeDims || common < 1 || x.count % common != 0 || y.count % common != 0) return false;
    left[rank] = {x.step, common};
    right[rank++] = {y.step, common};
    x = {x.step * common, x.count / common};
    y = {y.step * common, y.count / common};
    if (x.count == 1 && i > 0) x = a.dims[--i];
    if (y.count == 1 && j > 0) y = b.dims[--j];
    if (x.count == 1 && y.count == 1 && i == 0 && j == 0) break;
  }
  clear_from(a, 0);
  clear_from(b, 0);
  for (int k = 0; k < rank; ++k) {
    a.dims[k] = left[rank - 1 - k];
    b.dims[k] = right[rank - 1 - k];
  }
  a.rank = b.rank = static_cast<uint8_t>(rank);
  return true;
}

void canonicalize_scalar(Scalar& scalar, bool used) {
  if (!used || scalar.kind == Scalar::Kind::None) {
    scalar = Scalar{};
    return;
  }
  if (scalar.kind != Scalar::Kind::Register) scalar.reg = 0;
  if (scalar.kind != Scalar::Kind::Immediate) scalar.bits = 0;
  if (scalar.kind != Scalar::Kind::Pointer) scalar.pointer = Access{};
  canonicalize_access(scalar.pointer, false);
}

void canonicalize_events(MachineInst& inst) {
  for (int i = inst.num_waits; i < 2; ++i) inst.waits[i] = Wait{};
  if (!inst.has_update) inst.update = Update{};
  const bool implicit_one = inst.update.mode == UpdateMode::SemInc ||
                            inst.update.mode == UpdateMode::SemDec ||
                            inst.update.mode == UpdateMode::EventSet;
  if (implicit_one) inst.update.value = 1;
}

void canonicalize_registers(MachineInst& inst) {
  if (inst.opcode == Opcode::RegisterMove) {
    if (inst.register_operand)
      inst.immediate = 0;
    else
      inst.reg_left = 0;
  }
  if (inst.opcode == Opcode::RegisterAlu) {
    if (inst.register_operand)
      inst.immediate = 0;
    else
      inst.reg_right = 0;
  }
  if (inst.opcode != Opcode::CompareBranch) return;
  if (inst.branch_always) {
    inst.compare = BranchCompare::EqImm;
    inst.reg_left = 0;
    inst.immediate = 0;
  }
  if (is_register_compare(inst.compare))
    inst.immediate = 0;
  else
    inst.reg_right = 0;
}

}  // namespace

bool is_register_compare(BranchCompare compare) { return compare >= BranchCompare::LtReg; }

bool uses_scalar(const MachineInst& inst, int index) {
  const bool seeds = inst.accumulate == AccumulateCommand::LoadAccumulate;
  const auto binary = [](AluOp op) { return info(op).arity == 2; };
  switch (inst.opcode) {
    case Opcode::Activate:
      return index < 2 || seeds || inst.function == ActivationFunction::Prelu;
    case Opcode::TensorScalarArith:
    case Opcode::TensorScalarBitvec:
      return index < 2 && binary(index == 0 ? inst.op0 : inst.op1);
    case Opcode::TensorScalarCacheReduce:
      if (index == 0) return binary(inst.op0);
      return index == 1 && (seeds || (inst.accumulate == AccumulateCommand::Idle && binary(inst.op1)));
    case Opcode::ScalarTensorTensorArith:
    case Opcode::ScalarTensorTensorBitvec:
      return index == 0 && binary(inst.op0);
    case Opcode::TensorTensorScan:
    case Opcode::CopyPredicatedScalar:
    case Opcode::Memset:
    case Opcode::TensorScalarAffineSelect:
      return index == 0;
    default:
      return false;
  }
}

bool is_bit_operation(Opcode opcode) {
  switch (opcode) {
    case Opcode::TensorTensorBitvec:
    case Opcode::TensorScalarBitvec:
    case Opcode::ScalarTensorTensorBitvec:
    case Opcode::TensorReduceBitvec:
    case Opcode::CrossLaneReduceBitvec:
      return true;
    default:
      return false;
  }
}

bool is_positional(Opcode opcode) {
  return opcode == Opcode::TensorReduceArith || opcode == Opcode::TensorReduceBitvec;
}

void canonicalize(Access& access) { canonicalize_access(access, false); }

void canonicalize(MachineInst& inst) {
  canonicalize_events(inst);
  canonicalize_registers(inst);
  canonicalize_access(inst.out, false);
  canonicalize_access(inst.in0, is_positional(inst.opcode));
  canonicalize_access(inst.in1, false);
  Scalar* scalars[] = {&inst.scalar0, &inst.scalar1, &inst.scalar2};
  for (int i = 0; i < 3; ++i) canonicalize_scalar(*scalars[i], uses_scalar(inst, i));
  if (inst.opcode == Opcode::Activate) {
    if (!inst.scalar0.present()) inst.scalar0 = Scalar::immediate(-0.0F);
    if (!inst.scalar1.present()) inst.scalar1 = Scalar::immediate(1.0F);
  }
  const Dims pattern{inst.pattern_rank, inst.pattern};
  if (inst.opcode == Opcode::Iota || inst.opcode == Opcode::TensorScalarAffineSelect)
    drop_unit_dims(pattern);
  else
    clear_from(pattern, inst.pattern_rank = 0);
  if (inst.opcode == Opcode::TensorScalarAffineSelect && inst.out.present())
    refine_together({inst.out.rank, inst.out.dims}, pattern);
}

}  // namespace ncc::isa
