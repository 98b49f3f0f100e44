// Packs a MachineInst by walking its opcode's field rows: one case per role. Every refusal names opcode,
// field and value.
#include <algorithm>

#include "ir-formats/isa/fields.h"
#include "ir-formats/isa/roles.h"
#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

constexpr uint8_t kDwords = 0x10;
constexpr int kSemaphores = 256;

class Packer {
 public:
  Packer(const MachineInst& inst, const WireContext& context, std::byte* bytes)
      : inst_(inst), context_(context), bytes_(bytes) {}

  Status put(const Field& field);

 private:
  template <class... Args>
  Status bad(const Field& field, fmt::format_string<Args...> pattern, Args&&... args) const {
    return error(Code::EISA002, fmt::format("{}.{}", info(inst_.opcode).mnemonic, field.name),
                 fmt::format(pattern, std::forward<Args>(args)...));
  }
  void u8(const Field& field, uint64_t value) { bytes_[field.offset] = static_cast<std::byte>(value); }
  void u32(const Field& field, uint32_t value) { store_le(bytes_ + field.offset, value); }

  Status put_u8(const Field& field, int64_t value, int64_t low, int64_t high);
  Status put_enum(const Field& field, uint8_t code, std::string_view name);
  Status put_access(const Field& field, const Access& access);
  Status put_place(const Field& field, const Access& access, uint32_t& word) const;
  Status put_dims(const Field& field, const std::array<Dim, kMaxFreeDims>& dims, int rank, int slots,
                  std::byte* at);
  Status put_pattern(const Field& field);
  Status put_tag(const Field& field, Dtype dtype, uint8_t& tag) const;
  Status put_tags(const Field& field, Dtype low, Dtype high);
  Status put_pe_dtype(const Field& field);
  Status put_lanes(const Field& field);
  Status put_events(const Field& field);
  Status put_wait(const Field& field, const Wait& wait, std::byte* mode, std::byte* index, std::byte* value);
  Status put_wait_update(const Field& field);
  Status put_scalar(const Field& field, int index);
  Status put_scalar_dtypes(const Field& field);
  Status put_register(const Field& field, int reg) { return put_u8(field, reg, 0, kNumRegisters - 1); }
  Status put_variable(const Field& field, const Access& access);
  Status put_queue(const Field& field);
  Status put_branch(const Field& field);
  Status put_pe(const Field& field);
  Status put_types(const Field& field);
  Status put_operation(const Field& field);
  Status put_values(const Field& field);
  Status put_control(const Field& field);

  const Scalar& scalar(int index) const {
    return index == 0 ? inst_.scalar0 : index == 1 ? inst_.scalar1 : inst_.scalar2;
  }
  Dtype default_pointer_dtype() const {
    return is_bit_operation(inst_.opcode) ? inst_.in0.dtype : Dtype::F32;
  }
  bool value_is_written(const Update& update) const {
    return update.mode == UpdateMode::SemAddImm || update.mode == UpdateMode::SemSubImm ||
           update.mode == UpdateMode::SemWriteImm;
  }

  const MachineInst& inst_;
  const WireContext& context_;
  std::byte* bytes_;
};

Status Packer::put_u8(const Field& field, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) return bad(field, "{} is not in {}..{}", value, low, high);
  u8(field, static_cast<uint64_t>(value));
  return Status::ok();
}

Status Packer::put_enum(const Field& field, uint8_t code, std::string_view name) {
  if (code == 0xFF) return bad(field, "'{}' has no wire code", name);
  u8(field, code);
  return Status::ok();
}

// Folds partition and offset into an ADDR4 word.
Status Packer::put_place(const Field& field, const Access& access, uint32_t& word) const {
  if (access.space != Space::Sbuf && access.space != Space::Psum)
    return bad(field, "{}", access.present() ? "a DRAM operand needs a DMA" : "the operand is missing");
  if (access.num_partitions < 1 || access.start_partition + access.num_partitions > kNumPartitions)
    return bad(field, "partitions {}..{} are not in 0..127", access.start_partition,
               access.start_partition + access.num_partitions - 1);
  const int64_t limit = access.space == Space::Sbuf ? kSbufPartitionBytes : kPsumPartitionBytes;
  if (access.offset < 0 || access.offset >= limit)
    return bad(field, "byte offset {} is not in 0..{}", access.offset, limit - 1);
  if (access.offset % ncc::size_bytes(access.dtype) != 0)
    return bad(field, "byte offset {} is not aligned to the {} bytes of {}", access.offset,
               ncc::size_bytes(access.dtype), info(access.dtype).machine);
  word = pack_address(access.space, access.start_partition, access.offset);
  return Status::ok();
}

// Strides, then counts, innermost first; free slots get stride 1, count 1.
Status Packer::put_dims(const Field& field, const std::array<Dim, kMaxFreeDims>& dims, int rank, int slots,
                        std::byte* at) {
  if (rank > slots) return bad(field, "{} free dimensions, the wire holds {}", rank, slots);
  for (int slot = 0; slot < slots; ++slot) {
    const Dim dim = slot < rank ? dims[rank - 1 - slot] : Dim{};
    if (dim.step < INT16_MIN || dim.step > INT16_MAX)
      return bad(field, "step {} of dimension {} does not fit 16 bits", dim.step, rank - 1 - slot);
    if (dim.count < 1 || dim.count > UINT16_MAX)
      return bad(field, "count {} of dimension {} is not in 1..65535", dim.count, rank - 1 - slot);
    store_le(at + 2 * slot, static_cast<int16_t>(dim.step));
    store_le(at + 2 * (slots + slot), static_cast<uint16_t>(dim.count));
  }
  return Status::ok();
}

int slots_of(Kind kind) { return (size_bytes(kind) - 4) / 4; }

Status Packer::put_access(const Field& field, const Access& access) {
  uint32_t word = 0;
  NCC_TRY(put_place(field, access, word));
  u32(field, word);
  return put_dims(field, access.dims, access.rank, slots_of(field.kind), bytes_ + field.offset + 4);
}

Status Packer::put_pattern(const Field& field) {
  if (inst_.pattern_rank < 1) return bad(field, "the pattern is missing");
  int64_t count = 1;
  for (int i = 0; i < inst_.pattern_rank; ++i) count *= inst_.pattern[i].count;
  if (count != inst_.out.elements_per_partition())
    return bad(field, "{} elements, the destination has {}", count, inst_.out.elements_per_partition());
  if (field.kind == Kind::Pattern4D)
    return put_dims(field, inst_.pattern, inst_.pattern_rank, slots_of(field.kind),
                    bytes_ + field.offset + 4);
  // Steps alone: the counts are those of `out`, with which canonicalize() has aligned the pattern.
  for (int i = 0; i < inst_.pattern_rank; ++i)
    if (inst_.pattern_rank != inst_.out.rank || inst_.pattern[i].count != inst_.out.dims[i].count)
      return bad(field, "the pattern and the destination do not split into common dimensions");
  std::byte held[16];
  NCC_TRY(put_dims(field, inst_.pattern, inst_.pattern_rank, 3, held));
  std::memcpy(bytes_ + field.offset, held, static_cast<size_t>(size_bytes(field.kind)));
  return Status::ok();
}

Status Packer::put_tag(const Field& field, Dtype dtype, uint8_t& tag) const {
  tag = wire_tag(dtype, context_);
  if (tag == 0) return bad(field, "element type {} has no wire tag in this program", info(dtype).hlo);
  return Status::ok();
}

Status Packer::put_tags(const Field& field, Dtype low, Dtype high) {
  uint8_t low_tag = 0, high_tag = 0;
  NCC_TRY(put_tag(field, low, low_tag));
  NCC_TRY(put_tag(field, high, high_tag));
  u8(field, static_cast<uint64_t>(low_tag | (high_tag << 4)));
  return Status::ok();
}

Status Packer::put_pe_dtype(const Field& field) {
  const Dtype dtype = inst_.in0.dtype;
  if (inst_.is_transpose && context_.generation < 3)
    return bad(field, "the transpose mode does not exist on generation {}", context_.generation);
  const bool fp32r = dtype == Dtype::F32R && !inst_.is_transpose;
  if (field.role == Role::PeMode) {
    u8(field, inst_.is_transpose    ? kPeTranspose
              : fp32r               ? kPeFp32r
              : dtype == Dtype::F32 ? kPeFp32
                                    : kPePlain);
    return Status::ok();
  }
  uint8_t tag = 0;
  NCC_TRY(put_tag(field, fp32r ? Dtype::F32 : dtype, tag));
  u8(field, tag);
  return Status::ok();
}

// One lanes byte speaks for all operands: they must agree.
Status Packer::put_lanes(const Field& field) {
  int lanes = -1;
  for (const Access* access : {&inst_.out, &inst_.in0, &inst_.in1, &inst_.scalar0.pointer,
                               &inst_.scalar1.pointer, &inst_.scalar2.pointer}) {
    if (!access->present()) continue;
    if (lanes >= 0 && access->num_partitions != lanes)
      return bad(field, "operands have {} and {} partitions", lanes, access->num_partitions);
    lanes = access->num_partitions;
  }
  const bool blocks = inst_.opcode == Opcode::StreamShuffle || inst_.opcode == Opcode::StreamTranspose;
  if (blocks && lanes % 32 != 0) return bad(field, "{} is not a multiple of 32", lanes);
  return put_u8(field, lanes, 1, kNumPartitions);
}

Status Packer::put_wait(const Field& field, const Wait& wait, std::byte* mode, std::byte* index,
                        std::byte* value) {
  if (wait.mode == WaitMode::SemGeReg && (wait.value < 0 || wait.value >= kNumRegisters))
    return bad(field, "register {} is not in 0..63", wait.value);
  *mode = static_cast<std::byte>(wire(wait.mode));
  *index = static_cast<std::byte>(wait.semaphore);
  if (wait.mode != WaitMode::EventSetThenClear) store_le(value, wait.value);
  return Status::ok();
}

// The generic band: one wait and one update share the value dword.
Status Packer::put_events(const Field& field) {
  std::byte* at = bytes_ + field.offset;
  if (inst_.num_waits > 1) return bad(field, "{} waits, a bundle carries one", int{inst_.num_waits});
  const bool writes_value = inst_.has_update && value_is_written(inst_.update);
  if (inst_.num_waits == 1) {
    const Wait& wait = inst_.waits[0];
    NCC_TRY(put_wait(field, wait, at, at + 1, at + 4));
    if (writes_value && (wait.mode != WaitMode::SemGeImm || wait.value != inst_.update.value))
      return bad(field, "wait value {} and update value {} share one field", wait.value, inst_.update.value);
  }
  if (!inst_.has_update) return Status::ok();
  at[2] = static_cast<std::byte>(wire(inst_.update.mode));
  at[3] = static_cast<std::byte>(inst_.update.semaphore);
  if (writes_value) store_le(at + 4, inst_.update.value);
  return Status::ok();
}

// EventSemaphore: wait 0 alone at 0x04; wait 1 and the update share the second band.
Status Packer::put_wait_update(const Field& field) {
  std::byte* at = bytes_ + field.offset;
  if (field.role == Role::Wait0) {
    if (inst_.num_waits == 0 && !inst_.has_update) return bad(field, "neither a wait nor an update");
    if (inst_.num_waits == 0) return Status::ok();
    return put_wait(field, inst_.waits[0], at, at + 1, at + 4);
  }
  if (inst_.num_waits > 2) return bad(field, "{} waits, a bundle carries two", int{inst_.num_waits});
  if (inst_.num_waits == 2) NCC_TRY(put_wait(field, inst_.waits[1], at, at + 1, at + 4));
  if (!inst_.has_update) return Status::ok();
  at[2] = static_cast<std::byte>(wire(inst_.update.mode));
  at[3] = static_cast<std::byte>(inst_.update.semaphore);
  if (value_is_written(inst_.update)) store_le(at + 8, inst_.update.value);
  return Status::ok();
}

// The selector byte or the value dword of one scalar.
Status Packer::put_scalar(const Field& field, int index) {
  const Scalar& value = scalar(index);
  const bool is_selector = field.kind == Kind::U8;
  if (!value.present()) {
    if (uses_scalar(inst_, index)) return bad(field, "scalar {} is missing", index);
    // Activate says "inline" for the argument it does not use.
    if (is_selector && inst_.opcode == Opcode::Activate) u8(field, 1);
    return Status::ok();
  }
  if (is_selector) {
    u8(field, value.kind == Scalar::Kind::Pointer ? 0 : value.kind == Scalar::Kind::Immediate ? 1 : 2);
    return Status::ok();
  }
  uint32_t word = value.bits;
  if (value.kind == Scalar::Kind::Register) {
    if (value.reg >= kNumRegisters) return bad(field, "register {} is not in 0..63", int{value.reg});
    word = value.reg;
  }
  if (value.kind == Scalar::Kind::Pointer) {
    if (value.pointer.elements_per_partition() != 1)
      return bad(field, "a pointer scalar reads one element per partition, found {}",
                 value.pointer.elements_per_partition());
    NCC_TRY(put_place(field, value.pointer, word));
  }
  u32(field, word);
  return Status::ok();
}

Status Packer::put_scalar_dtypes(const Field& field) {
  const auto pointer_dtype = [&](int index) -> std::optional<Dtype> {
    if (scalar(index).kind != Scalar::Kind::Pointer) return std::nullopt;
    return scalar(index).pointer.dtype;
  };
  if (field.role == Role::DtScalar0) {
    const Dtype other = is_bit_operation(inst_.opcode) ? Dtype::U32 : Dtype::F32;
    uint8_t tag = 0;
    NCC_TRY(put_tag(field, pointer_dtype(0).value_or(other), tag));
    u8(field, tag);
    return Status::ok();
  }
  if (field.role == Role::DtIn0Scalars) {
    std::optional<Dtype> shared;
    for (int i = 0; i < 3; ++i) {
      const std::optional<Dtype> dtype = pointer_dtype(i);
      if (dtype && shared && *dtype != *shared)
        return bad(field, "pointers of {} and {} share one type field", info(*shared).hlo, info(*dtype).hlo);
      if (dtype) shared = dtype;
    }
    return put_tags(field, inst_.in0.dtype, shared.value_or(Dtype::F32));
  }
  uint8_t tags[2] = {0, 0};
  for (int i = 0; i < 2; ++i)
    if (const std::optional<Dtype> dtype = pointer_dtype(i); dtype && *dtype != default_pointer_dtype())
      NCC_TRY(put_tag(field, *dtype, tags[i]));
  u8(field, static_cast<uint64_t>(tags[0] | (tags[1] << 4)));
  return Status::ok();
}

// One element: variable id 0 is on-chip memory, DRAM variable i has id i + 1.
Status Packer::put_variable(const Field& field, const Access& access) {
  if (access.num_elements() != 1) return bad(field, "{} elements, expected one", access.num_elements());
  std::byte* at = bytes_ + field.offset;
  if (access.space != Space::Dram) {
    uint32_t word = 0;
    NCC_TRY(put_place(field, access, word));
    store_le(at, uint32_t{0});
    store_le(at + 4, word);
    return Status::ok();
  }
  if (access.variable < 0 || access.variable >= (1 << 24) - 1)
    return bad(field, "variable {} is not in 0..16777214", access.variable);
  if (access.offset < 0 || access.offset > UINT32_MAX)
    return bad(field, "byte offset {} does not fit 32 bits", access.offset);
  store_le(at, static_cast<uint32_t>(access.variable + 1));
  store_le(at + 4, static_cast<uint32_t>(access.offset));
  return Status::ok();
}

Status Packer::put_queue(const Field& field) {
  std::string name = fmt::format("q{}", inst_.dma_queue);
  if (context_.queues) {
    if (inst_.dma_queue >= context_.queues->size())
      return bad(field, "queue {} of {}", inst_.dma_queue, context_.queues->size());
    name = (*context_.queues)[inst_.dma_queue].name;
  }
  if (name.empty() || static_cast<int>(name.size()) >= size_bytes(field.kind))
    return bad(field, "queue name '{}' is not 1..31 characters long", name);
  std::memcpy(bytes_ + field.offset, name.data(), name.size());
  return Status::ok();
}

Status Packer::put_branch(const Field& field) {
  if (field.role == Role::Compare) u8(field, inst_.branch_always ? 0 : wire(inst_.compare));
  if (field.role == Role::CompareDtype && !inst_.branch_always) u8(field, 8);  // int32
  if (field.role == Role::Target) store_le(bytes_ + field.offset, uint64_t{inst_.target});
  return Status::ok();
}

Status Packer::put_control(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::RangeFirst:
    case Role::RangeLast:
      if (x.range_first > x.range_last)
        return bad(field, "{}..{} is empty", int{x.range_first}, int{x.range_last});
      return put_u8(field, field.role == Role::RangeFirst ? x.range_first : x.range_last, 0, kSemaphores - 1);
    case Role::Compare:
    case Role::CompareDtype:
    case Role::Target:
      return put_branch(field);
    case Role::OperandKind:
      u8(field, x.register_operand ? 0 : 1);
      return Status::ok();
    case Role::RegLeft:
      return put_register(field, x.reg_left);
    case Role::RegRight:
      return put_register(field, x.reg_right);
    case Role::RegDst:
      return put_register(field, x.reg_dst);
    case Role::Immediate:
      u32(field, static_cast<uint32_t>(x.immediate));
      return Status::ok();
    case Role::MemoryIn:
      return put_variable(field, x.in0);
    case Role::MemoryOut:
      return put_variable(field, x.out);
    case Role::QueueName:
      return put_queue(field);
    case Role::BlockId:
      u32(field, x.dma_block);
      return Status::ok();
    default:
      return bad(field, "the field has no rule");
  }
}

Status Packer::put_values(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::TableSet:
      u8(field, x.table_set);
      return Status::ok();
    case Role::ElementCount:
      if (field.layout == Layout::ReadAccumulator && x.out.elements_per_partition() != 1)
        return bad(field, "{} elements per partition, expected one", x.out.elements_per_partition());
      u32(field, static_cast<uint32_t>(x.out.elements_per_partition()));
      return Status::ok();
    case Role::FillBits:
      if (x.scalar0.kind != Scalar::Kind::Immediate) return bad(field, "the fill value must be an immediate");
      u32(field, x.scalar0.bits);
      return Status::ok();
    case Role::Pattern:
      return put_pattern(field);
    case Role::Base:
      u32(field, static_cast<uint32_t>(x.base));
      return Status::ok();
    case Role::Multiplier:
      if (field.kind == Kind::U32) {
        u32(field, static_cast<uint32_t>(x.channel_multiplier));
        return Status::ok();
      }
      if (x.channel_multiplier < INT16_MIN || x.channel_multiplier > INT16_MAX)
        return bad(field, "{} does not fit 16 bits", x.channel_multiplier);
      store_le(bytes_ + field.offset, static_cast<int16_t>(x.channel_multiplier));
      return Status::ok();
    case Role::LaneMask:
      for (int lane = 0; lane < 32; ++lane) {
        const uint8_t from = x.mask[lane];
        if (from > 31 && from != 255) return bad(field, "source lane {} is not 0..31 or 255", int{from});
        bytes_[field.offset + lane] = static_cast<std::byte>(from == 255 ? 0x20 | lane : from);
      }
      return Status::ok();
    default:
      return put_control(field);
  }
}

Status Packer::put_operation(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::Function:
      return put_enum(field, wire(x.function) == 0xFF ? 0xFF : wire(x.function), name(x.function));
    case Role::Accumulate:
      return put_enum(field, wire(x.accumulate), name(x.accumulate));
    case Role::Op0:
      if (x.opcode == Opcode::TensorTensorInt32) {
        const std::optional<uint8_t> code = int32_code(x.op0);
        const bool exists = code && (context_.generation >= 3 || *code <= 0xC5);
        return put_enum(field, exists ? *code : 0xFF, name(x.op0));
      }
      return put_enum(field, wire(x.op0) >= 0xC4 ? 0xFF : wire(x.op0), name(x.op0));
    case Role::Op1:
      return put_enum(field, wire(x.op1) >= 0xC4 ? 0xFF : wire(x.op1), name(x.op1));
    case Role::CompareOp:
      if (info(x.compare_op).domain != AluDomain::Compare)
        return bad(field, "'{}' is not a comparison", name(x.compare_op));
      return put_enum(field, wire(x.compare_op), name(x.compare_op));
    case Role::Reverse:
      return put_u8(field, x.reverse, 0, 3);
    case Role::Negate:
      u8(field, x.negate);
      return Status::ok();
    case Role::AxisCode:
      return put_enum(field, wire(x.axis) == 0 ? 0xFF : wire(x.axis), name(x.axis));
    case Role::CrossLaneOp:
      if (x.out.num_partitions != 1)
        return bad(field, "the result has {} partitions, expected one", int{x.out.num_partitions});
      return put_enum(field, cross_lane_code(x.op0).value_or(0xFF), name(x.op0));
    case Role::CrossLaneAxis:
      return put_enum(field, x.axis == Axis::C ? 1 : x.axis == Axis::XYZWC ? 0 : 0xFF, name(x.axis));
    case Role::InverseCount:
      if (x.op0 == AluOp::Average) {
        const int64_t free = x.axis == Axis::C ? 1 : x.in0.elements_per_partition();
        u32(field, std::bit_cast<uint32_t>(1.0F / static_cast<float>(x.in0.num_partitions * free)));
      }
      return Status::ok();
    default:
      return put_values(field);
  }
}

Status Packer::put_types(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::DtIn0:
    case Role::DtIn1:
    case Role::DtOut:
    case Role::DtPsum: {
      const Access& access = field.role == Role::DtIn0 ? x.in0 : field.role == Role::DtIn1 ? x.in1 : x.out;
      uint8_t tag = 0;
      NCC_TRY(put_tag(field, access.dtype, tag));
      u8(field, tag);
      return Status::ok();
    }
    case Role::DtIn0In1:
      return put_tags(field, x.in0.dtype, x.in1.dtype);
    case Role::DtIn1In0:
      return put_tags(field, x.in1.dtype, x.in0.dtype);
    case Role::DtIn0Out:
      return put_tags(field, x.in0.dtype, x.out.dtype);
    case Role::DtIn0Scalars:
    case Role::DtScalarPair:
    case Role::DtScalar0:
      return put_scalar_dtypes(field);
    case Role::Source0:
    case Role::Value0:
      return put_scalar(field, 0);
    case Role::Source1:
    case Role::Value1:
      return put_scalar(field, 1);
    case Role::Source2:
    case Role::Value2:
      return put_scalar(field, 2);
    default:
      return put_operation(field);
  }
}

Status Packer::put_pe(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::PerfMode:
      return put_enum(field, wire(x.perf_mode), name(x.perf_mode));
    case Role::RowGroup:
      u8(field, quadrant_group(x.in0.start_partition, x.in0.num_partitions));
      return Status::ok();
    case Role::ColumnGroup: {
      const bool whole = x.is_transpose || x.in0.dtype == Dtype::F32R;
      const bool loads = x.opcode == Opcode::Ldweights;
      const auto extent = loads ? static_cast<int>(x.in0.elements_per_partition()) : x.out.num_partitions;
      u8(field, whole ? 0xF : quadrant_group(loads ? 0 : x.out.start_partition, extent));
      return Status::ok();
    }
    case Role::AccumulateFlags: {
      constexpr uint8_t kLegal = 0b1011111;  // 0..4 and 6
      if (x.accumulate_flags > 6 || !(kLegal >> x.accumulate_flags & 1))
        return bad(field, "{} is not one of 0, 1, 2, 3, 4, 6", int{x.accumulate_flags});
      u8(field, x.accumulate_flags);
      return Status::ok();
    }
    case Role::ZeroRegion:
      return put_u8(field, x.psum_zero_region, 0, 4);
    default:
      return put_types(field);
  }
}

// One case per role, in groups that hand on what is not theirs.
Status Packer::put(const Field& field) {
  const MachineInst& x = inst_;
  switch (field.role) {
    case Role::Fixed:
      u8(field, field.fixed_value);
      return Status::ok();
    case Role::Events:
      return put_events(field);
    case Role::Wait0:
    case Role::Wait1Update:
      return put_wait_update(field);
    case Role::In0:
      return put_access(field, x.in0);
    case Role::In1:
      return put_access(field, x.in1);
    case Role::Out:
      return put_access(field, x.out);
    case Role::Lanes:
      return put_lanes(field);
    case Role::InLanes:
      return put_u8(field, x.in0.num_partitions, 1, kNumPartitions);
    case Role::OutLanes:
      return put_u8(field, x.out.num_partitions, 1, kNumPartitions);
    case Role::Columns:
      return put_u8(field, x.in0.elements_per_partition(), 1, kNumPartitions);
    case Role::PeDtype:
    case Role::PeMode:
      return put_pe_dtype(field);
    default:
      return put_pe(field);
  }
}

}  // namespace

Status encode(const MachineInst& inst, const WireContext& context,
              std::span<std::byte, kBundleBytes> bundle) {
  const OpcodeInfo& row = info(inst.opcode);
  if (inst.opcode == Opcode::Opaque)
    return error(Code::EISA002, "an opaque bundle",
                 fmt::format("opcode byte 0x{:02X} has no row", inst.opaque_byte));
  if (context.generation < kFirstGeneration || context.generation > kLastGeneration)
    return error(Code::EISA002, row.mnemonic, fmt::format("generation {} is unknown", context.generation));
  if (!is_legal(inst.opcode, inst.engine, context.generation))
    return error(Code::EISA002, row.mnemonic,
                 fmt::format("engine {} of generation {} has no such instruction", name(inst.engine),
                             context.generation));
  MachineInst canonical = inst;
  canonicalize(canonical);
  std::fill(bundle.begin(), bundle.end(), std::byte{0});
  bundle[0] = static_cast<std::byte>(wire_byte(inst.opcode, context.generation));
  bundle[1] = static_cast<std::byte>(kDwords);
  Packer packer(canonical, context, bundle.data());
  for (const Field& field : fields_of(inst.opcode, context.generation)) NCC_TRY(packer.put(field));
  return Status::ok();
}

}  // namespace ncc::isa
