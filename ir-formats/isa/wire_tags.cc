#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

struct TagRow {
  Dtype dtype;
  uint8_t tag;
};
// spec/isa.md §3.1. float8_e8m0fnu shares uint8's tag and is not written; the two e4m3 types share one
// (WireContext).
constexpr TagRow kTags[] = {
    {Dtype::U64, 0x01},    {Dtype::S8, 0x02},     {Dtype::U8, 0x03},     {Dtype::S16, 0x04},
    {Dtype::U16, 0x05},    {Dtype::BF16, 0x06},   {Dtype::F16, 0x07},    {Dtype::S32, 0x08},
    {Dtype::U32, 0x09},    {Dtype::F32, 0x0A},    {Dtype::F32R, 0x0B},   {Dtype::S64, 0x0C},
    {Dtype::F8E3M4, 0x0D}, {Dtype::F8E4M3, 0x0E}, {Dtype::F8E5M2, 0x0F},
};
constexpr uint8_t kE4m3Tag = 0x0E;

struct OpCode {
  AluOp op;
  uint8_t code;
};
constexpr OpCode kCrossLane[] = {{AluOp::Add, 0},       {AluOp::Average, 1},    {AluOp::Max, 2},
                                 {AluOp::BitwiseOr, 3}, {AluOp::BitwiseAnd, 4}, {AluOp::BitwiseXor, 5}};
constexpr OpCode kInt32[] = {{AluOp::Add, 0xC4},
                             {AluOp::Mult, 0xC5},
                             {AluOp::Subtract, 0xC6},
                             {AluOp::Divide, 0xC7},
                             {AluOp::ModInt, 0xC8}};

std::optional<uint8_t> code_of(std::span<const OpCode> rows, AluOp op) {
  for (const OpCode& row : rows)
    if (row.op == op) return row.code;
  return std::nullopt;
}
std::optional<AluOp> op_of(std::span<const OpCode> rows, uint8_t code) {
  for (const OpCode& row : rows)
    if (row.code == code) return row.op;
  return std::nullopt;
}

}  // namespace

uint8_t wire_tag(Dtype dtype, const WireContext& context) {
  if (dtype == Dtype::Pred) dtype = Dtype::U8;
  if (dtype == Dtype::F8E4M3FN) return context.e4m3fn ? kE4m3Tag : 0;
  if (dtype == Dtype::F8E4M3 && context.e4m3fn) return 0;
  for (const TagRow& row : kTags)
    if (row.dtype == dtype) return row.tag;
  return 0;
}

std::optional<Dtype> dtype_from_tag(uint8_t tag, const WireContext& context) {
  if (tag == kE4m3Tag && context.e4m3fn) return Dtype::F8E4M3FN;
  for (const TagRow& row : kTags)
    if (row.tag == tag) return row.dtype;
  return std::nullopt;
}

bool unpack_address(uint32_t word, Access& access) {
  if (word & 0xE0000000u) return false;  // indirect, active and register forms
  if (word < kPsumBase) {
    access.space = Space::Sbuf;
    access.start_partition = static_cast<uint8_t>(word >> kSbufPartitionShift);
    access.offset = word & (kSbufPartitionBytes - 1);
    return true;
  }
  const uint32_t inside = word - kPsumBase;
  if (inside >= kPsumWindow) return false;
  access.space = Space::Psum;
  access.start_partition = static_cast<uint8_t>(inside >> kPsumPartitionShift);
  access.offset = inside & ((1u << kPsumPartitionShift) - 1);
  return access.offset < kPsumPartitionBytes;
}

std::optional<uint8_t> cross_lane_code(AluOp op) { return code_of(kCrossLane, op); }
std::optional<AluOp> cross_lane_op(uint8_t code) { return op_of(kCrossLane, code); }
std::optional<uint8_t> int32_code(AluOp op) { return code_of(kInt32, op); }
std::optional<AluOp> int32_op(uint8_t code) { return op_of(kInt32, code); }

uint8_t wire_byte(Opcode opcode, int generation) {
  if (opcode == Opcode::TensorTensorInt32 && generation >= 3) return info(Opcode::TensorTensorArith).byte;
  return info(opcode).byte;
}

}  // namespace ncc::isa
