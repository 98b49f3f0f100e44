// Unpacks a bundle by walking the same field rows as the encoder. Never trusts a byte: what has no meaning is
// EISA001.
#include <algorithm>

#include "ir-formats/isa/fields.h"
#include "ir-formats/isa/roles.h"
#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

constexpr uint8_t kDwords = 0x10;

class Unpacker {
 public:
  Unpacker(MachineInst& inst, const WireContext& context, const std::byte* bytes)
      : inst_(inst), context_(context), bytes_(bytes) {}

  Status take(const Field& field);
  Status finish();

 private:
  template <class... Args>
  Status bad(const Field& field, fmt::format_string<Args...> pattern, Args&&... args) const {
    return error(Code::EISA001,
                 fmt::format("{}.{} at byte 0x{:02X}: {}", info(inst_.opcode).mnemonic, field.name,
                             int{field.offset}, fmt::format(pattern, std::forward<Args>(args)...)));
  }
  uint8_t u8(const Field& field) const { return static_cast<uint8_t>(bytes_[field.offset]); }
  uint32_t u32(const Field& field) const { return load_le<uint32_t>(bytes_ + field.offset); }

  template <class T>
  Status take_u8(const Field& field, int low, int high, T& out) const {
    const int value = u8(field);
    if (value < low || value > high) return bad(field, "{} is not in {}..{}", value, low, high);
    out = static_cast<T>(value);
    return Status::ok();
  }
  template <class E>
  Status take_optional(const Field& field, const std::optional<E>& value, E& out) const {
    if (!value) return bad(field, "0x{:02X} has no meaning", int{u8(field)});
    out = *value;
    return Status::ok();
  }
  template <class E>
  Status take_enum(const Field& field, E& out) const {
    return take_optional(field, from_wire<E>(u8(field)), out);
  }
  Status take_dims(const Field& field, const std::byte* at, int slots, std::array<Dim, kMaxFreeDims>& dims,
                   uint8_t& rank) const;
  Status take_access(const Field& field, Access& access) const;
  Status take_pattern(const Field& field);
  Status take_tag(const Field& field, uint8_t tag, Dtype& out) const;
  Status take_tags(const Field& field, Dtype& low, Dtype& high) const;
  Status take_pe_mode(const Field& field);
  Status take_wait(const Field& field, const std::byte* mode, const std::byte* index, const std::byte* value);
  Status take_update(const Field& field, const std::byte* mode, const std::byte* index,
                     const std::byte* value);
  Status take_source(const Field& field, Scalar& scalar) const;
  Status take_value(const Field& field, Scalar& scalar) const;
  Status take_scalar_dtypes(const Field& field);
  Status take_lane_mask(const Field& field);
  Status take_variable(const Field& field, Access& access) const;
  Status take_queue(const Field& field);
  Status take_operand(const Field& field);
  Status take_attribute(const Field& field);
  Status take_control(const Field& field);

  MachineInst& inst_;
  const WireContext& context_;
  const std::byte* bytes_;
  int lanes_ = 0;
  uint8_t pair_tags_ = 0;
};

// Slots innermost first; unused ones have count 1 and disappear, but for a reduction's source, whose axis
// counts slots.
Status Unpacker::take_dims(const Field& field, const std::byte* at, int slots,
                           std::array<Dim, kMaxFreeDims>& dims, uint8_t& rank) const {
  const bool positional = field.role == Role::In0 && is_positional(inst_.opcode);
  std::array<Dim, kMaxFreeDims> found{};
  int kept = 0;
  for (int slot = 0; slot < slots; ++slot) {
    const Dim dim{load_le<int16_t>(at + 2 * slot), load_le<uint16_t>(at + 2 * (slots + slot))};
    if (dim.count == 0) return bad(field, "count 0 in slot {}", slot);
    if (dim.count == 1 && !positional) continue;
    found[kept++] = dim.count == 1 ? Dim{} : dim;
  }
  while (kept > 1 && found[kept - 1].count == 1) --kept;
  rank = static_cast<uint8_t>(std::max(kept, 1));
  for (int i = 0; i < kept; ++i) dims[kept - 1 - i] = found[i];
  return Status::ok();
}

int slots_of(Kind kind) { return (size_bytes(kind) - 4) / 4; }

Status Unpacker::take_access(const Field& field, Access& access) const {
  const uint32_t word = u32(field);
  if (!unpack_address(word, access)) return bad(field, "0x{:08X} is not a static on-chip address", word);
  return take_dims(field, bytes_ + field.offset + 4, slots_of(field.kind), access.dims, access.rank);
}

Status Unpacker::take_pattern(const Field& field) {
  if (field.kind == Kind::Pattern4D) {
    if (u32(field) != 0) return bad(field, "the pattern has an address");
    return take_dims(field, bytes_ + field.offset + 4, slots_of(field.kind), inst_.pattern,
                     inst_.pattern_rank);
  }
  // Steps alone, innermost first; finish() adds out's counts once they are known.
  for (int slot = 0; slot < 3; ++slot)
    inst_.pattern[slot].step = load_le<int16_t>(bytes_ + field.offset + 2 * slot);
  return Status::ok();
}

Status Unpacker::take_tag(const Field& field, uint8_t tag, Dtype& out) const {
  const std::optional<Dtype> dtype = dtype_from_tag(tag, context_);
  if (!dtype) return bad(field, "0x{:02X} is no element type", int{tag});
  out = *dtype;
  return Status::ok();
}

Status Unpacker::take_tags(const Field& field, Dtype& low, Dtype& high) const {
  NCC_TRY(take_tag(field, u8(field) & 0xF, low));
  return take_tag(field, u8(field) >> 4, high);
}

// Follows PeDtype in table order: fp32 data says by its mode how it is multiplied.
Status Unpacker::take_pe_mode(const Field& field) {
  const uint8_t mode = u8(field);
  const bool is_fp32 = inst_.in0.dtype == Dtype::F32;
  if (mode == kPeTranspose && context_.generation >= 3) {
    inst_.is_transpose = true;
  } else if (mode == kPeFp32r && is_fp32) {
    inst_.in0.dtype = Dtype::F32R;
  } else if (!(mode == kPeFp32 && is_fp32) &&
             !(mode == kPePlain && !is_fp32 && inst_.in0.dtype != Dtype::F32R)) {
    return bad(field, "mode {} does not go with {}", int{mode}, info(inst_.in0.dtype).hlo);
  }
  return Status::ok();
}

Status Unpacker::take_wait(const Field& field, const std::byte* mode, const std::byte* index,
                           const std::byte* value) {
  const auto code = static_cast<uint8_t>(*mode);
  if (code == 0) return Status::ok();
  const std::optional<WaitMode> found = from_wire<WaitMode>(code);
  if (!found) return bad(field, "wait mode 0x{:02X} has no meaning", int{code});
  Wait wait{*found, static_cast<uint8_t>(*index), 0};
  if (*found != WaitMode::EventSetThenClear) wait.value = load_le<int32_t>(value);
  if (*found == WaitMode::SemGeReg && (wait.value < 0 || wait.value >= kNumRegisters))
    return bad(field, "register {} is not in 0..63", wait.value);
  inst_.waits[inst_.num_waits++] = wait;
  return Status::ok();
}

Status Unpacker::take_update(const Field& field, const std::byte* mode, const std::byte* index,
                             const std::byte* value) {
  const auto code = static_cast<uint8_t>(*mode);
  if (code == 0) return Status::ok();
  const std::optional<UpdateMode> found = from_wire<UpdateMode>(code);
  if (!found) return bad(field, "update mode 0x{:02X} has no meaning", int{code});
  inst_.has_update = true;
  inst_.update = {*found, static_cast<uint8_t>(*index), 1};
  const bool has_value =
      *found == UpdateMode::SemAddImm || *found == UpdateMode::SemSubImm || *found == UpdateMode::SemWriteImm;
  if (has_value) inst_.update.value = load_le<int32_t>(value);
  return Status::ok();
}

Status Unpacker::take_source(const Field& field, Scalar& scalar) const {
  constexpr Scalar::Kind kKinds[] = {Scalar::Kind::Pointer, Scalar::Kind::Immediate, Scalar::Kind::Register};
  int selector = 0;
  NCC_TRY(take_u8(field, 0, 2, selector));
  scalar.kind = kKinds[selector];
  return Status::ok();
}

// Reads the dword that the selector (already read) speaks of. Whether the scalar exists is decided in
// finish().
Status Unpacker::take_value(const Field& field, Scalar& scalar) const {
  const uint32_t word = u32(field);
  switch (scalar.kind) {
    case Scalar::Kind::Immediate:
      scalar.bits = word;
      return Status::ok();
    case Scalar::Kind::Register:
      if (word >= kNumRegisters) return bad(field, "register {} is not in 0..63", word);
      scalar.reg = static_cast<uint8_t>(word);
      return Status::ok();
    default:
      if (!unpack_address(word, scalar.pointer))
        return bad(field, "0x{:08X} is not a static on-chip address", word);
      scalar.pointer.rank = 1;
      return Status::ok();
  }
}

Status Unpacker::take_scalar_dtypes(const Field& field) {
  if (field.role == Role::DtScalarPair) {
    pair_tags_ = u8(field);  // a tag of 0 means in0's type or fp32: resolved in finish()
    return Status::ok();
  }
  if (field.role == Role::DtScalar0) return take_tag(field, u8(field), inst_.scalar0.pointer.dtype);
  Dtype pointers = Dtype::F32;
  NCC_TRY(take_tags(field, inst_.in0.dtype, pointers));
  for (Scalar* scalar : {&inst_.scalar0, &inst_.scalar1, &inst_.scalar2}) scalar->pointer.dtype = pointers;
  return Status::ok();
}

Status Unpacker::take_lane_mask(const Field& field) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto code = static_cast<uint8_t>(bytes_[field.offset + lane]);
    if (code > 31 && code != (0x20 | lane)) return bad(field, "lane {} has source 0x{:02X}", lane, int{code});
    inst_.mask[lane] = code > 31 ? 255 : code;
  }
  return Status::ok();
}

Status Unpacker::take_variable(const Field& field, Access& access) const {
  const auto id = u32(field);
  const auto offset = load_le<uint32_t>(bytes_ + field.offset + 4);
  access.rank = 1;
  if (id == 0) {
    if (!unpack_address(offset, access)) return bad(field, "0x{:08X} is not an on-chip address", offset);
    return Status::ok();
  }
  if (id >= 1u << 24) return bad(field, "variable id {} does not fit 24 bits", id);
  access.space = Space::Dram;
  access.variable = static_cast<int32_t>(id) - 1;
  access.offset = offset;
  return Status::ok();
}

Status Unpacker::take_queue(const Field& field) {
  const char* text = reinterpret_cast<const char*>(bytes_ + field.offset);
  const std::string_view slot(text, static_cast<size_t>(size_bytes(field.kind)));
  const size_t length = slot.find('\0');
  if (length == 0 || length == std::string_view::npos)
    return bad(field, "the queue name is empty or too long");
  if (slot.find_first_not_of('\0', length) != std::string_view::npos)
    return bad(field, "bytes follow the end of the queue name");
  const std::string_view wanted = slot.substr(0, length);
  if (context_.queues) {
    for (size_t i = 0; i < context_.queues->size(); ++i) {
      if ((*context_.queues)[i].name != wanted) continue;
      inst_.dma_queue = static_cast<uint16_t>(i);
      return Status::ok();
    }
    return bad(field, "no queue is called '{}'", std::string(wanted.substr(0, 31)));
  }
  int index = 0;
  for (const char c : wanted.substr(1)) {
    if (c < '0' || c > '9' || index > UINT16_MAX) return bad(field, "queue names are not known here");
    index = index * 10 + (c - '0');
  }
  if (wanted[0] != 'q' || wanted.size() < 2 || index > UINT16_MAX)
    return bad(field, "queue names are not known here");
  inst_.dma_queue = static_cast<uint16_t>(index);
  return Status::ok();
}

Status Unpacker::take_operand(const Field& field) {
  MachineInst& x = inst_;
  switch (field.role) {
    case Role::In0:
      return take_access(field, x.in0);
    case Role::In1:
      return take_access(field, x.in1);
    case Role::Out:
      return take_access(field, x.out);
    case Role::Lanes:
      return take_u8(field, 1, kNumPartitions, lanes_);
    case Role::InLanes:
      return take_u8(field, 1, kNumPartitions, x.in0.num_partitions);
    case Role::OutLanes:
      return take_u8(field, 1, kNumPartitions, x.out.num_partitions);
    case Role::PeDtype:
    case Role::DtIn0:
      return take_tag(field, u8(field), x.in0.dtype);
    case Role::PeMode:
      return take_pe_mode(field);
    case Role::DtIn1:
      return take_tag(field, u8(field), x.in1.dtype);
    case Role::DtOut:
      return take_tag(field, u8(field), x.out.dtype);
    case Role::DtPsum:
      return u8(field) == 0 ? Status::ok() : take_tag(field, u8(field), x.out.dtype);
    case Role::DtIn0In1:
      return take_tags(field, x.in0.dtype, x.in1.dtype);
    case Role::DtIn1In0:
      return take_tags(field, x.in1.dtype, x.in0.dtype);
    case Role::DtIn0Out:
      return take_tags(field, x.in0.dtype, x.out.dtype);
    case Role::DtIn0Scalars:
    case Role::DtScalarPair:
    case Role::DtScalar0:
      return take_scalar_dtypes(field);
    case Role::Source0:
      return take_source(field, x.scalar0);
    case Role::Source1:
      return take_source(field, x.scalar1);
    case Role::Source2:
      return take_source(field, x.scalar2);
    case Role::Value0:
      return take_value(field, x.scalar0);
    case Role::Value1:
      return take_value(field, x.scalar1);
    case Role::Value2:
      return take_value(field, x.scalar2);
    case Role::FillBits:
      x.scalar0 = Scalar::immediate_bits(u32(field));
      return Status::ok();
    case Role::MemoryIn:
      return take_variable(field, x.in0);
    case Role::MemoryOut:
      return take_variable(field, x.out);
    default:
      return take_attribute(field);
  }
}

Status Unpacker::take_attribute(const Field& field) {
  MachineInst& x = inst_;
  switch (field.role) {
    case Role::PerfMode:
      return take_enum(field, x.perf_mode);
    case Role::AccumulateFlags:
      if (u8(field) == 5) return bad(field, "5 has no meaning");
      return take_u8(field, 0, 6, x.accumulate_flags);
    case Role::ZeroRegion:
      return take_u8(field, 0, 4, x.psum_zero_region);
    case Role::Function:
      return take_enum(field, x.function);
    case Role::Accumulate:
      return take_enum(field, x.accumulate);
    case Role::Op0: {
      if (x.opcode != Opcode::TensorTensorInt32) return take_enum(field, x.op0);
      std::optional<AluOp> op = int32_op(u8(field));
      if (context_.generation < 3 && u8(field) > 0xC5) op.reset();
      return take_optional(field, op, x.op0);
    }
    case Role::Op1:
      return take_enum(field, x.op1);
    case Role::CompareOp:
      NCC_TRY(take_enum(field, x.compare_op));
      return info(x.compare_op).domain == AluDomain::Compare
                 ? Status::ok()
                 : bad(field, "'{}' is not a comparison", name(x.compare_op));
    case Role::Reverse:
      return take_u8(field, 0, 3, x.reverse);
    case Role::Negate:
      return take_u8(field, 0, 1, x.negate);
    case Role::AxisCode:
      return u8(field) == 0 ? bad(field, "0 has no meaning") : take_enum(field, x.axis);
    case Role::CrossLaneOp:
      return take_optional(field, cross_lane_op(u8(field)), x.op0);
    case Role::CrossLaneAxis: {
      bool partitions_only = false;
      NCC_TRY(take_u8(field, 0, 1, partitions_only));
      x.axis = partitions_only ? Axis::C : Axis::XYZWC;
      return Status::ok();
    }
    case Role::TableSet:
      x.table_set = u8(field);
      return Status::ok();
    case Role::Pattern:
      return take_pattern(field);
    case Role::Base:
      x.base = static_cast<int32_t>(u32(field));
      return Status::ok();
    case Role::Multiplier:
      x.channel_multiplier = field.kind == Kind::U32 ? static_cast<int32_t>(u32(field))
                                                     : load_le<int16_t>(bytes_ + field.offset);
      return Status::ok();
    case Role::LaneMask:
      return take_lane_mask(field);
    default:
      return take_control(field);
  }
}

Status Unpacker::take_control(const Field& field) {
  MachineInst& x = inst_;
  const std::byte* at = bytes_ + field.offset;
  switch (field.role) {
    case Role::Events:
      NCC_TRY(take_wait(field, at, at + 1, at + 4));
      return take_update(field, at + 2, at + 3, at + 4);
    case Role::Wait0:
      return take_wait(field, at, at + 1, at + 4);
    case Role::Wait1Update:
      NCC_TRY(take_wait(field, at, at + 1, at + 4));
      return take_update(field, at + 2, at + 3, at + 8);
    case Role::RangeFirst:
      x.range_first = u8(field);
      return Status::ok();
    case Role::RangeLast:
      return take_u8(field, x.range_first, 255, x.range_last);
    case Role::Compare:
      x.branch_always = u8(field) == 0;
      return x.branch_always ? Status::ok() : take_enum(field, x.compare);
    case Role::CompareDtype:
      return u8(field) == (x.branch_always ? 0 : 8) ? Status::ok() : bad(field, "only int32 is compared");
    case Role::OperandKind: {
      bool immediate = false;
      NCC_TRY(take_u8(field, 0, 1, immediate));
      x.register_operand = !immediate;
      return Status::ok();
    }
    case Role::RegLeft:
      return take_u8(field, 0, kNumRegisters - 1, x.reg_left);
    case Role::RegRight:
      return take_u8(field, 0, kNumRegisters - 1, x.reg_right);
    case Role::RegDst:
      return take_u8(field, 0, kNumRegisters - 1, x.reg_dst);
    case Role::Immediate:
      x.immediate = static_cast<int32_t>(u32(field));
      return Status::ok();
    case Role::Target: {
      const auto target = load_le<uint64_t>(at);
      if (target > UINT32_MAX) return bad(field, "bundle {} is out of range", target);
      x.target = static_cast<uint32_t>(target);
      return Status::ok();
    }
    case Role::QueueName:
      return take_queue(field);
    case Role::BlockId:
      x.dma_block = u32(field);
      return Status::ok();
    default:  // RowGroup, ColumnGroup, Columns, ElementCount, InverseCount follow from the others:
              // check_bundle compares
      return Status::ok();
  }
}

Status Unpacker::take(const Field& field) {
  if (field.role != Role::Fixed) return take_operand(field);
  if (u8(field) != field.fixed_value)
    return bad(field, "found {}, expected {}", int{u8(field)}, int{field.fixed_value});
  return Status::ok();
}

// What needs several fields at once: lanes of all operands, scalars that exist, default dtypes, borrowed
// counts.
Status Unpacker::finish() {
  MachineInst& x = inst_;
  Scalar* scalars[] = {&x.scalar0, &x.scalar1, &x.scalar2};
  for (int i = 0; i < 3; ++i) {
    if (!uses_scalar(x, i)) {
      *scalars[i] = Scalar{};
      continue;
    }
    if (scalars[i]->kind != Scalar::Kind::Pointer) {
      scalars[i]->pointer = Access{};
      continue;
    }
    const bool pair = x.opcode == Opcode::TensorScalarArith || x.opcode == Opcode::TensorScalarBitvec ||
                      x.opcode == Opcode::TensorScalarCacheReduce;
    if (pair && i < 2) {
      const uint8_t tag = i == 0 ? pair_tags_ & 0xF : pair_tags_ >> 4;
      const std::optional<Dtype> dtype =
          tag == 0 ? (is_bit_operation(x.opcode) ? x.in0.dtype : Dtype::F32) : dtype_from_tag(tag, context_);
      if (!dtype)
        return error(Code::EISA001,
                     fmt::format("{}: 0x{:X} is no element type", info(x.opcode).mnemonic, tag));
      scalars[i]->pointer.dtype = *dtype;
    }
    scalars[i]->pointer.num_partitions = static_cast<uint8_t>(lanes_);
  }
  if (lanes_ > 0)
    for (Access* access : {&x.in0, &x.in1, &x.out})
      if (access->present()) access->num_partitions = static_cast<uint8_t>(lanes_);
  if (x.opcode == Opcode::TensorScalarAffineSelect) {
    const std::array<Dim, kMaxFreeDims> steps = x.pattern;
    x.pattern = {};
    x.pattern_rank = x.out.rank;
    for (int i = 0; i < x.out.rank; ++i) {
      x.pattern[i] = {steps[x.out.rank - 1 - i].step, x.out.dims[i].count};
      if (x.pattern[i].count == 1) x.pattern[i] = Dim{};
    }
  }
  for (const Access* access :
       {&x.in0, &x.in1, &x.out, &x.scalar0.pointer, &x.scalar1.pointer, &x.scalar2.pointer})
    if (access->present() && access->space != Space::Dram &&
        access->start_partition + access->num_partitions > kNumPartitions)
      return error(Code::EISA001, fmt::format("{}: partitions {}..{} are not in 0..127",
                                              info(x.opcode).mnemonic, access->start_partition,
                                              access->start_partition + access->num_partitions - 1));
  return Status::ok();
}

Status check_reserved(std::span<const std::byte, kBundleBytes> bundle, Opcode opcode, int generation) {
  const std::array<uint64_t, 8>& mask = reserved_mask(opcode, generation);
  for (int word = 0; word < 8; ++word) {
    const uint64_t stray = load_le<uint64_t>(bundle.data() + 8 * word) & mask[word];
    if (stray == 0) continue;
    const int byte = 8 * word + std::countr_zero(stray) / 8;
    return error(Code::EISA001, fmt::format("{}: reserved byte 0x{:02X} is 0x{:02X}, expected 0",
                                            info(opcode).mnemonic, byte, static_cast<int>(bundle[byte])));
  }
  return Status::ok();
}

}  // namespace

Status decode(std::span<const std::byte, kBundleBytes> bundle, Engine engine, const WireContext& context,
              MachineInst& inst) {
  const int generation = context.generation;
  if (generation < kFirstGeneration || generation > kLastGeneration)
    return error(Code::EISA001, fmt::format("generation {} is unknown", generation));
  inst = MachineInst{};
  inst.engine = engine;
  const auto byte = static_cast<uint8_t>(bundle[0]);
  inst.opcode = opcode_from_byte(byte);
  // Generation 3 tells integer arithmetic on Pool by its ALU code alone.
  const auto alu_code = static_cast<uint8_t>(bundle[0x0E]);
  if (generation >= 3 && inst.opcode == Opcode::TensorTensorArith && engine == Engine::Pool &&
      int32_op(alu_code))
    inst.opcode = Opcode::TensorTensorInt32;
  if (inst.opcode == Opcode::Opaque) {
    inst.opaque_byte = byte;
    return Status::ok();
  }
  if (!is_legal(inst.opcode, engine, generation) || wire_byte(inst.opcode, generation) != byte)
    return error(Code::EISA001, fmt::format("engine {} of generation {} has no instruction 0x{:02X} ({})",
                                            name(engine), generation, byte, info(inst.opcode).mnemonic));
  if (static_cast<uint8_t>(bundle[1]) != kDwords || bundle[2] != std::byte{0} || bundle[3] != std::byte{0})
    return error(Code::EISA001, fmt::format("{}: bad header bytes", info(inst.opcode).mnemonic));
  NCC_TRY(check_reserved(bundle, inst.opcode, generation));
  Unpacker unpacker(inst, context, bundle.data());
  for (const Field& field : fields_of(inst.opcode, generation)) NCC_TRY(unpacker.take(field));
  return unpacker.finish();
}

Result<MachineInst> decode(std::span<const std::byte, kBundleBytes> bundle, Engine engine,
                           const WireContext& context) {
  Result<MachineInst> inst{MachineInst{}};
  const Status status = decode(bundle, engine, context, inst.value());
  if (!status.is_ok()) return status;
  return inst;
}

Status check_bundle(std::span<const std::byte, kBundleBytes> bundle, Engine engine,
                    const WireContext& context) {
  NCC_ASSIGN(const MachineInst inst, decode(bundle, engine, context));
  if (inst.opcode == Opcode::Opaque) return Status::ok();
  NCC_TRY(check(inst, context.generation));
  std::array<std::byte, kBundleBytes> again;
  NCC_TRY(encode(inst, context, again));
  const auto differs = std::mismatch(bundle.begin(), bundle.end(), again.begin());
  if (differs.first == bundle.end()) return Status::ok();
  return error(Code::EISA001,
               fmt::format("{}: byte 0x{:02X} is 0x{:02X}, expected 0x{:02X}", info(inst.opcode).mnemonic,
                           differs.first - bundle.begin(), static_cast<int>(*differs.first),
                           static_cast<int>(*differs.second)));
}

}  // namespace ncc::isa
