// Rules of one instruction that hold whatever the packing. Sources: spec/isa.md §9, spec/arch.md §3.2; DESIGN
// section 14 C5.
#include "common/arch/arch.h"
#include "ir-formats/isa/roles.h"
#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

const ArchModel* arch_of(int generation) {
  static const ArchModel* const kArchs[] = {find_arch("trn1"), find_arch("trn2")};
  return generation == 2 || generation == 3 ? kArchs[generation - 2] : nullptr;
}

Status bad(const MachineInst& inst, std::string_view operand, const std::string& problem) {
  return error(Code::EISA001, fmt::format("{}.{}: {}", info(inst.opcode).mnemonic, operand, problem));
}

// The bytes of one partition that the pattern touches: [first, last).
void byte_range(const Access& access, int64_t& first, int64_t& last) {
  const int64_t size = ncc::size_bytes(access.dtype);
  first = access.offset;
  last = access.offset + size;
  for (int i = 0; i < access.rank; ++i) {
    const int64_t reach = access.dims[i].step * (access.dims[i].count - 1) * size;
    (reach < 0 ? first : last) += reach;
  }
}

Status check_place(const MachineInst& inst, std::string_view operand, const Access& access, int generation) {
  if (!access.present() || access.space == Space::Dram) return Status::ok();
  if (access.space == Space::Psum && inst.engine == Engine::Pool)
    return bad(inst, operand, "Pool does not reach PSUM");
  const ArchModel* arch = arch_of(generation);
  if (arch == nullptr) return Status::ok();
  const int64_t limit =
      access.space == Space::Sbuf ? arch->sbuf_bytes_per_partition : arch->psum_banks * arch->psum_bank_bytes;
  int64_t first = 0, last = 0;
  byte_range(access, first, last);
  if (first < 0 || last > limit)
    return bad(inst, operand,
               fmt::format("bytes {}..{} of a partition are not in 0..{}", first, last - 1, limit - 1));
  return Status::ok();
}

Status check_equal_counts(const MachineInst& inst, std::string_view operand, const Access& access) {
  if (!access.present() || access.elements_per_partition() == inst.out.elements_per_partition())
    return Status::ok();
  return bad(inst, operand,
             fmt::format("{} elements per partition, the destination has {}", access.elements_per_partition(),
                         inst.out.elements_per_partition()));
}

Status check_elementwise(const MachineInst& inst) {
  switch (inst.opcode) {
    case Opcode::Matmul:
      // In transpose mode the moving operand comes out turned.
      if (inst.is_transpose) {
        if (inst.in0.elements_per_partition() == inst.out.num_partitions &&
            inst.in0.num_partitions == inst.out.elements_per_partition())
          return Status::ok();
        return bad(inst, "in0",
                   fmt::format("a transpose of {} x {} into {} x {}", int{inst.in0.num_partitions},
                               inst.in0.elements_per_partition(), int{inst.out.num_partitions},
                               inst.out.elements_per_partition()));
      }
      [[fallthrough]];
    case Opcode::Activate:
    case Opcode::TensorTensorArith:
    case Opcode::TensorTensorBitvec:
    case Opcode::TensorTensorInt32:
    case Opcode::TensorScalarArith:
    case Opcode::TensorScalarBitvec:
    case Opcode::TensorScalarCacheReduce:
    case Opcode::ScalarTensorTensorArith:
    case Opcode::ScalarTensorTensorBitvec:
    case Opcode::TensorTensorScan:
    case Opcode::Copy:
    case Opcode::Cast:
    case Opcode::Reciprocal:
    case Opcode::StreamShuffle:
    case Opcode::StreamTranspose:
    case Opcode::CopyPredicated:
    case Opcode::CastPredicated:
    case Opcode::CopyPredicatedScalar:
    case Opcode::TensorScalarAffineSelect:
      NCC_TRY(check_equal_counts(inst, "in0", inst.in0));
      return check_equal_counts(inst, "in1", inst.in1);
    default:
      return Status::ok();
  }
}

Status check_pe(const MachineInst& inst) {
  if (inst.in0.space != Space::Sbuf) return bad(inst, "in0", "PE reads SBUF only");
  if (inst.opcode == Opcode::Ldweights) return Status::ok();
  if (inst.out.space != Space::Psum) return bad(inst, "out", "PE writes PSUM only");
  const int64_t size = ncc::size_bytes(inst.out.dtype);
  if (size != 2 && size != 4) return bad(inst, "out", "a PSUM destination has elements of 2 or 4 bytes");
  return Status::ok();
}

Status check_dtypes(const MachineInst& inst, int generation) {
  const auto is_int32 = [](const Access& a) { return a.dtype == Dtype::S32 || a.dtype == Dtype::U32; };
  if (inst.opcode == Opcode::TensorTensorInt32 &&
      !(is_int32(inst.in0) && is_int32(inst.in1) && is_int32(inst.out)))
    return bad(inst, "out", "integer arithmetic needs 32-bit integer operands");
  const ArchModel* arch = arch_of(generation);
  const bool bias_immediate = inst.opcode == Opcode::Activate &&
                              inst.scalar0.kind == Scalar::Kind::Immediate &&
                              (inst.scalar0.bits & 0x7FFFFFFF) != 0;
  if (bias_immediate && arch != nullptr && !arch->has_activation_bias_immediate)
    return bad(inst, "scalar0", "this generation takes the bias from memory only");
  if (inst.opcode == Opcode::TensorStoreRegister && inst.out.space == Space::Psum)
    return bad(inst, "out", "registers are not stored to PSUM");
  if (inst.opcode == Opcode::TensorStoreRegister && inst.out.space == Space::Sbuf && generation == 2)
    return bad(inst, "out", "this generation stores registers to DRAM only");
  return Status::ok();
}

}  // namespace

Status check(const MachineInst& inst, int generation) {
  if (inst.opcode == Opcode::Opaque)
    return error(Code::EISA001,
                 fmt::format("opcode byte 0x{:02X} is not implemented", int{inst.opaque_byte}));
  if (!is_legal(inst.opcode, inst.engine, generation))
    return bad(inst, "engine",
               fmt::format("{} of generation {} has no such instruction", name(inst.engine), generation));
  NCC_TRY(check_place(inst, "out", inst.out, generation));
  NCC_TRY(check_place(inst, "in0", inst.in0, generation));
  NCC_TRY(check_place(inst, "in1", inst.in1, generation));
  NCC_TRY(check_place(inst, "scalar0", inst.scalar0.pointer, generation));
  NCC_TRY(check_place(inst, "scalar1", inst.scalar1.pointer, generation));
  NCC_TRY(check_place(inst, "scalar2", inst.scalar2.pointer, generation));
  if (inst.engine == Engine::PE && (inst.opcode == Opcode::Matmul || inst.opcode == Opcode::Ldweights))
    NCC_TRY(check_pe(inst));
  NCC_TRY(check_elementwise(inst));
  return check_dtypes(inst, generation);
}

}  // namespace ncc::isa
