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

// clang-format off
/// Operand roles by opcode (unused ones are absent):
///   Ldweights               in0 = stationary [partition=K, free=M]
///   Matmul                  in0 = moving [partition=K, free=N], out = PSUM [partition=M, free=N]
///   Activate                out = function(in0 * scalar1 + scalar0): scalar0 = bias, scalar1 = scale; scalar2 = alpha
///                           (Prelu) or the accumulator's seed (LoadAccumulate). The wire always holds bias and scale: absent
///                           ones are canonically the immediates -0.0 (which changes no value) and 1.0
///   TensorTensor*           out = op0(in0, in1). TensorTensorInt32 (Pool, all operands S32 or U32, modulo 2^32): Add, Mult;
///                           from trn2 also Subtract, Divide, ModInt. Wire: 0x8A on trn1, 0x41 with ALU codes 0xC4..0xC8 after
///   TensorScalar*           out = op1(op0(in0, scalar0), scalar1); reverse bit 0 / 1 swap the operands of op0 / op1.
///                           A scalar exists exactly when its op takes two operands
///   TensorScalarCacheReduce as TensorScalarArith with the DVE accumulator: acc = op1(acc, op0(in0, scalar0)) when
///                           accumulate != Idle; scalar1 only seeds it (LoadAccumulate)
///   ScalarTensorTensor*     out = op1(op0(in0, scalar0), in1)
///   TensorTensorScan        state = op1(op0(state, in0), in1) along the free axis from scalar0; out = every state
///   TensorReduce*           out = fold of in0 over `axis` with op0; negate applies to the reduced value. The axis counts
///                           in0's innermost dims *as given*: here a dim of count 1 has a place of its own
///   CrossLaneReduce*        out (1 partition) = fold of in0 over partitions with op0; axis C keeps the free dims, XYZWC folds
///                           all. Fold ops: Add, Average, Max, BitwiseOr, BitwiseAnd, BitwiseXor
///   Copy, Cast, Reciprocal  out = in0
///   StreamTranspose         out = in0 with each 32x32 block transposed; partition counts are multiples of 32
///   LoadMaskSelect          sets DVE's lane mask from `mask`
///   StreamShuffle           out = in0 with partitions picked by the lane mask last loaded (it carries none itself)
///   Memset                  out = constant (raw bits in scalar0, of out's dtype)
///   Iota                    out = base + channel_multiplier * partition + sum(pattern_i.step * index_i)
///   TensorScalarAffineSelect  out = (that affine value compare_op 0) ? in0 : scalar0 (fill, fp32 immediate). `pattern` and out
///                           must split into common dims, at most 3
///   CopyPredicated, CastPredicated  out = in1 (mask) != 0 ? in0 : out;  CopyPredicatedScalar: out = in1 != 0 ? scalar0 : out
///   *ReadAccumulator        out = accumulator [free=1], negated when negate
///   RegisterMove            reg_dst = register_operand ? reg_left : immediate
///   RegisterAlu             reg_dst = op0(reg_left, register_operand ? reg_right : immediate), 32-bit signed
///   CompareBranch           compare reg_left with immediate / reg_right (S32), jump to bundle `target` of the same stream;
///                           branch_always ignores the compare
///   TensorLoadRegister      reg_dst = the one element of in0 (DRAM or SBUF);  TensorStoreRegister: the one element of out = reg_left
///   DmaTrigger              starts DMA block `dma_block` of queue `dma_queue`
///   Exit                    ends the engine's stream
// clang-format on
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
  bool register_operand =
      false;  // RegisterMove, RegisterAlu: the last operand is a register, not `immediate`
  int32_t immediate = 0;
  uint32_t target = 0;
  uint16_t dma_queue = 0;                   // index into the program's queues
  uint32_t dma_block = 0;                   // index into that queue's descriptors
  uint8_t range_first = 0, range_last = 0;  // SemaphoreRangeClear
  std::array<uint8_t, 32>
      mask{};               // LoadMaskSelect: source lane 0..31 of each lane of a 32-lane group, 255 = leave
  uint8_t opaque_byte = 0;  // the wire byte of Opcode::Opaque

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

/// Brings an access into the canonical form stated at Access (drops dims of count 1, keeping one; U8 for
/// Pred). Visits the same elements in the same order.
void canonicalize(Access& access);
/// Canonical form of every operand, respecting the roles stated at MachineInst (a reduction's source keeps
/// its inner dims of count 1; absent bias and scale of Activate become immediates; scalars that no op uses
/// disappear). Two instructions with equal canonical forms mean the same; decode(encode(x)) == canonical x.
void canonicalize(MachineInst& inst);

}  // namespace ncc::isa
