// The decoded instruction. The decoder (from 64-byte bundles) and walrus_driver's lowering (from BIR) produce
// it; the encoder packs it; the machine executes it and the cost model reads it. Operands are resolved
// accesses; packing limits are the encoder's business. Sources: spec/isa.md §2, §5; DESIGN section 14 M1.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "common/dtype/dtype.h"
#include "ir-formats/isa/enums.h"

namespace ncc::isa {

enum class Opcode : uint8_t {
#define OPCODE(id, byte, mnemonic, engines, first_gen, last_gen) id,
#include "ir-formats/isa/opcodes.def"
  Opaque,  // any byte without a row: decodes, prints, is refused by encoder and machine
};

enum class Space : uint8_t { None, Sbuf, Psum, Dram };

/// One loop of a pattern. Step in elements of the access's dtype (0 = broadcast, may be negative), count
/// >= 1.
struct Dim {
  int64_t step = 1;
  int64_t count = 1;
  bool operator==(const Dim&) const = default;
};

inline constexpr int kMaxFreeDims = 4;

/// Where an operand lives and in which order its elements are visited.
/// On chip: the same free pattern on `num_partitions` consecutive partitions from `start_partition`;
///   element address in a partition = offset + size * sum(index_i * step_i); PSUM offset = bank * 2048 + byte
///   in bank.
/// DRAM: `variable` indexes the program's DRAM variables, `offset` is in bytes from its start; num_partitions
/// is 1 and the
///   whole pattern stands in dims.
/// dims[0..rank) are outermost first. Canonical form: rank >= 1, no dim of count 1 unless it is the only one.
struct Access {
  Space space = Space::None;
  Dtype dtype = Dtype::F32;
  uint8_t start_partition = 0;
  uint8_t num_partitions = 1;
  uint8_t rank = 0;
  int32_t variable = -1;
  int64_t offset = 0;
  std::array<Dim, kMaxFreeDims> dims{};

  bool present() const { return space != Space::None; }
  int64_t elements_per_partition() const {
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= dims[i].count;
    return count;
  }
  int64_t num_elements() const { return elements_per_partition() * num_partitions; }
  bool operator==(const Access&) const = default;
};

/// A scalar operand: an immediate (raw 32 bits: fp32, or int32 for bit operations), one value per partition
/// read from memory (a one-element access with as many partitions as the data), or a register of the issuing
/// engine.
struct Scalar {
  enum class Kind : uint8_t { None, Immediate, Pointer, Register };
  Kind kind = Kind::None;
  uint8_t reg = 0;
  uint32_t bits = 0;
  Access pointer;

  static Scalar immediate(float value) { return {Kind::Immediate, 0, std::bit_cast<uint32_t>(value), {}}; }
  static Scalar immediate_bits(uint32_t bits) { return {Kind::Immediate, 0, bits, {}}; }
  bool present() const { return kind != Kind::None; }
  bool operator==(const Scalar&) const = default;
};

struct Wait {
  WaitMode mode = WaitMode::SemGeImm;
  uint8_t semaphore = 0;
  int32_t value = 0;  // threshold, or register id for SemGeReg
  bool operator==(const Wait&) const = default;
};
struct Update {
  UpdateMode mode = UpdateMode::SemInc;
  uint8_t semaphore = 0;
  int32_t value = 1;
  bool operator==(const Update&) const = default;
};

/// Operand roles by opcode (unused ones are absent):
///   Ldweights            in0 = stationary [partition=K, free=M]
///   Matmul               in0 = moving [partition=K, free=N], out = PSUM [partition=M, free=N]
///   Activate             out = function(in0 * scalar1 + scalar0): scalar0 = bias, scalar1 = scale, scalar2 =
///   alpha (Prelu) TensorTensor*        out = op0(in0, in1) TensorScalar*        out = op1(op0(in0, scalar0),
///   scalar1); reverse bit 0 / 1 swap the operands of op0 / op1 TensorScalarCacheReduce  as TensorScalarArith
///   with the DVE accumulator: acc = op1(acc, op0(in0, scalar0)) when accumulate != Idle ScalarTensorTensor*
///   out = op1(op0(in0, scalar0), in1) TensorReduce*        out = fold of in0 over `axis` with op0; negate
///   applies to the reduced value CrossLaneReduce*     out (1 partition) = fold of in0 over partitions with
///   op0 Copy, Cast, Reciprocal, StreamTranspose  out = in0;  StreamShuffle also uses `mask` Memset out =
///   constant (raw bits in scalar0, of out's dtype) Iota                 out = base + channel_multiplier *
///   partition + sum(pattern_i.step * index_i) TensorScalarAffineSelect out = (that affine value compare_op
///   0) ? in0 : scalar0 (fill, fp32) CopyPredicated/CastPredicated  out = in1 (mask) != 0 ? in0 : out;
///   CopyPredicatedScalar: out = in1 != 0 ? scalar0 : out TensorTensorScan     state = op1(op0(state, in0),
///   in1) along the free axis from scalar0; out = every state *ReadAccumulator     out = accumulator [free=1]
///   DmaTrigger           starts DMA block `dma_block` of queue `dma_queue`
///   CompareBranch        compare reg_left with immediate / reg_right, jump to bundle `target`; branch_always
///   ignores the compare
struct MachineInst {
  Opcode opcode = Opcode::Nop;
  Engine engine = Engine::SP;
  uint8_t num_waits = 0;
  bool has_update = false;
  std::array<Wait, 2> waits{};
  Update update{};

  Access out, in0, in1;
  Scalar scalar0, scalar1, scalar2;

  AluOp op0 = AluOp::Bypass, op1 = AluOp::Bypass;
  AluOp compare_op = AluOp::IsGe;  // TensorScalarAffineSelect
  uint8_t reverse = 0;
  bool negate = false;
  ActivationFunction function = ActivationFunction::Identity;
  AccumulateCommand accumulate = AccumulateCommand::Idle;
  Axis axis = Axis::X;
  uint8_t table_set = 0;  // ActivationTableLoad

  // PE
  PerfMode perf_mode = PerfMode::None;
  uint8_t accumulate_flags = 0;  // bit 0 START, bit 1 STOP, bit 2 ACCUMULATE
  uint8_t psum_zero_region = 0;
  bool is_transpose =
      false;  // gen3+: exact pass-through of the moving operand's transpose (stationary = identity)

  // Iota, TensorScalarAffineSelect
  int32_t base = 0;
  int32_t channel_multiplier = 0;
  uint8_t pattern_rank = 0;
  std::array<Dim, kMaxFreeDims> pattern{};

  // Control, registers, DMA
  BranchCompare compare = BranchCompare::EqImm;
  bool branch_always = false;
  uint8_t reg_left = 0, reg_right = 0, reg_dst = 0;
  int32_t immediate = 0;
  uint32_t target = 0;
  uint16_t dma_queue = 0;                   // index into the program's queues
  uint32_t dma_block = 0;                   // index into that queue's descriptors
  uint8_t range_first = 0, range_last = 0;  // SemaphoreRangeClear
  std::array<uint8_t, 32> mask{};  // StreamShuffle, LoadMaskSelect: source lane of each lane, 255 = leave
  uint8_t opaque_byte = 0;         // the wire byte of Opcode::Opaque

  uint32_t source =
      0;  // index into the program's source-instruction table (name and location); never on the wire

  bool operator==(const MachineInst&) const = default;
};

/// One static DMA transfer (section 14, M3): element i of `src` goes to element i of `dst`, cast when the
/// dtypes differ. The visit order of an on-chip side is partition outermost, then dims. At most 4 dimensions
/// a side, the partition one included. transpose: dst visits its elements with its two innermost dims swapped
/// (trn2 only).
struct DmaDescriptor {
  Access src, dst;
  bool transpose = false;
  uint32_t source = 0;
  bool operator==(const DmaDescriptor&) const = default;
};

struct DmaQueue {
  std::string name;  // at most 31 characters
  QueueType type = QueueType::Data;
  Engine trigger = Engine::SP;             // the engine whose stream starts it
  uint8_t semaphore = 0;                   // completion counter
  int32_t completion_count = 16;           // added once when all of a transfer is done
  std::vector<DmaDescriptor> descriptors;  // block id = index
};

enum class VariableKind : uint8_t { Input, Output, Const, Internal };

/// A DRAM variable: what ADDR8 operands and descriptors name.
struct Variable {
  std::string name;
  VariableKind kind = VariableKind::Internal;
  int64_t size_bytes = 0;
  int64_t const_offset = -1;  // Const: byte offset into the constants member
  bool operator==(const Variable&) const = default;
};

/// Name and location of a BIR instruction, for profiles, diagnostics and disassembly.
struct SourceInst {
  std::string name;     // BIR instruction name
  std::string op_name;  // the user's op
  std::string file;
  int32_t line = 0;
};

/// One core's program: what the NEFF's sgNN holds, decoded. Streams are indexed by Engine.
struct Program {
  int generation = 3;  // 2 = trn1, 3 = trn2
  std::array<std::vector<MachineInst>, 8> streams;
  std::vector<DmaQueue> queues;
  std::vector<Variable> variables;
  std::vector<SourceInst> sources;

  std::vector<MachineInst>& stream(Engine e) { return streams[static_cast<size_t>(e)]; }
  const std::vector<MachineInst>& stream(Engine e) const { return streams[static_cast<size_t>(e)]; }
};

inline constexpr std::array<Engine, 5> kStreamEngines = {Engine::PE, Engine::Activation, Engine::Pool,
                                                         Engine::DVE, Engine::SP};

struct OpcodeInfo {
  Opcode opcode;
  uint8_t byte;
  std::string_view mnemonic;
  std::string_view engines;
  int first_gen, last_gen;
};
const OpcodeInfo& info(Opcode opcode);
/// Opcode::Opaque for a byte without a row.
Opcode opcode_from_byte(uint8_t byte);
/// Whether `engine`'s stream of `generation` may carry the opcode.
bool is_legal(Opcode opcode, Engine engine, int generation);

}  // namespace ncc::isa
