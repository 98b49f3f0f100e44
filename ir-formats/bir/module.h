// BIR in memory: tiled, engine-typed code over named memories. hlo-opt emits it with loops and symbolic
// patterns; walrus_driver unrolls, allocates, schedules and encodes it. Spellings and JSON keys: spec/bir.md.
// Ids are dense indices; names are unique in their list.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/diag/source_loc.h"
#include "common/dtype/dtype.h"
#include "ir-formats/affine/expr.h"
#include "ir-formats/isa/enums.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::bir {

using isa::AccumulateCommand;
using isa::ActivationFunction;
using isa::AluOp;
using isa::Dim;
using isa::Engine;

enum class Opcode : uint8_t {
#define OPCODE(id, ordinal, engines, min_level, ins_min, ins_max, outs_min, outs_max) id,
#include "ir-formats/bir/opcodes.def"
};

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
inline constexpr int kMaxPatternDims = 6;

enum class Memory : uint8_t { Dram = 8, Sbuf = 16, Psum = 32 };  // wire numbers
enum class TensorKind : uint8_t { ExternalInput = 0, ExternalOutput = 3, Const = 6, Internal = 7 };
enum class EdgeKind : uint8_t { Invalid = 0, Ordered = 1, Anti = 2, Output = 3, Flow = 4 };

/// One physical placement. On chip: `partitions` x `bytes_per_partition`; DRAM: partitions = 1 and
/// bytes_per_partition = size.
struct MemoryLocation {
  std::string name;
  uint32_t set = kNone;
  Memory memory = Memory::Sbuf;
  int32_t partitions = 1;
  int64_t bytes_per_partition = 0;
  bool allocated = false;
  int32_t base = 0;     // start partition
  int32_t bank = 0;     // PSUM bank of the first byte
  int64_t address = 0;  // SBUF/PSUM: byte inside the partition (PSUM: inside the bank); DRAM: byte offset
  int32_t base_alignment = 32;  // legal start partitions are multiples of this (and spec/bir.md §7.1)
};

/// One logical tensor. A set owned by a loop (`scope` = that loop's axis) gets a fresh location in every
/// iteration when unrolled.
struct MemoryLocationSet {
  std::string name;
  Memory memory = Memory::Sbuf;
  TensorKind kind = TensorKind::Internal;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;    // on chip: [partitions, free...]; DRAM: the device shape
  affine::AxisId scope = kNone;  // kNone = the function
  std::vector<uint32_t> locations;
  // Const only: where the bytes are in constants.bin, and their hash.
  int64_t const_offset = -1;
  std::string const_hash;
  SourceLoc loc;
};

struct LoopAxis {
  std::string name;
  int64_t lower = 0, upper = 0, step = 1;
  bool parallel = false;
  int64_t trip_count() const { return upper <= lower ? 0 : (upper - lower + step - 1) / step; }
};

enum class OperandKind : uint8_t { PhysicalAp, SymbolicAp, Immediate, Register };

/// An access or an immediate. On chip, ap[0] is the partition entry (step 1, count = partitions); the rest
/// are free dims, outermost first. In DRAM every entry of ap is a plain dim. Steps count elements of `dtype`.
struct Operand {
  OperandKind kind = OperandKind::PhysicalAp;
  Dtype dtype = Dtype::F32;
  uint8_t rank = 0;
  uint32_t set = kNone;
  uint32_t location = kNone;  // PhysicalAp
  int32_t partition = 0;      // PhysicalAp: start partition inside the location
  int64_t offset =
      0;  // PhysicalAp: elements of dtype from the partition's start (DRAM: from the location's start)
  affine::Ref partition_expr = nullptr;  // SymbolicAp: the same two over the enclosing loop axes
  affine::Ref offset_expr = nullptr;
  std::array<Dim, kMaxPatternDims> ap{};
  uint32_t bits = 0;  // Immediate: raw fp32 or int32

  int64_t num_partitions() const { return rank > 0 ? ap[0].count : 1; }
  int64_t num_elements() const {
    int64_t count = 1;
    for (int i = 0; i < rank; ++i) count *= ap[i].count;
    return count;
  }
};

/// Flat attribute set; which fields an opcode uses is said beside it. Operand order (ins -> outs):
///   Activation        data, bias [, scale tensor] -> out [, accumulator]     function, scale, alpha,
///   accumulate, reduce_op Matmult           moving, stationary -> PSUM       k_axes / accumulation_flag,
///   group, is_transpose, perf_mode TensorScalarPtr   data, scalar0 [, scalar1] -> out    op0, op1, reverse0,
///   reverse1
///                     is_scalar_tensor_tensor: data, scalar0, data1 -> out = op1(op0(data, scalar0), data1)
///                     is_tensor_tensor_scan: data0, initial, data1 -> out: state = op1(op0(state, data0),
///                     data1) accumulate = ZeroAccumulate with two outs: out = op0(data, scalar0), outs[1] =
///                     fold of out by op1
///   TensorTensor      a, b -> out                      op0. On Pool with all-int32 operands add/mult (trn2:
///   subtract, divide, mod) are exact TensorReduce      in -> out                        op0, axis, negate;
///   axis C folds partitions (Pool) Memset            -> out                           constant (raw bits of
///   out's dtype) Iota              -> out (int32 value converted)   base, channel_multiplier, pattern
///   TensorScalarAffineSelect in -> out                 base, channel_multiplier, pattern, compare_op, fill
///   CopyPredicated    src (or immediate), mask -> out  out keeps its value where mask == 0
///   Select            mask, on_true, on_false -> out   lowered by lower_select
///   StreamTranspose, StreamShuffle(mask), TensorCopy, Reciprocal, GenericCopy, AbstractCopy   in -> out
///   Load, Save, DMACopy  src -> dst                    dma_transpose (DMACopy, trn2)
struct Attributes {
  AluOp op0 = AluOp::Bypass, op1 = AluOp::Bypass, reduce_op = AluOp::Add;
  bool reverse0 = false, reverse1 = false, negate = false;
  ActivationFunction function = ActivationFunction::Identity;
  float scale = 1.0f, alpha = 0.0f;
  AccumulateCommand accumulate = AccumulateCommand::Idle;
  isa::Axis axis = isa::Axis::X;
  bool is_scalar_tensor_tensor = false, is_tensor_tensor_scan = false;
  uint32_t constant = 0;
  int32_t base = 0, channel_multiplier = 0;
  uint8_t pattern_rank = 0;
  std::array<Dim, isa::kMaxFreeDims> pattern{};
  AluOp compare_op = AluOp::IsGe;
  float fill = 0.0f;
  // Matmult: kAutoFlag before unroll means START when all k_axes stand at their first iteration, else
  // ACCUMULATE, and STOP when all stand at their last (C3). Without START and ACCUMULATE a matmul overwrites.
  static constexpr uint8_t kAutoFlag = 8;
  uint8_t accumulation_flag =
      kAutoFlag;  // bit 0 START, bit 1 STOP, bit 2 ACCUMULATE; kAutoFlag = from k_axes
  bool is_transpose = false;
  isa::PerfMode perf_mode = isa::PerfMode::None;
  std::vector<affine::AxisId> k_axes;
  uint32_t group = kNone;  // accumulation group; unique per group after unroll
  bool dma_transpose = false;
  std::array<uint8_t, 32> mask{};
  uint8_t table_set = 0;
};

struct Dependency {
  uint32_t predecessor;  // index of the instruction in its block
  EdgeKind kind;
};

struct Block;

struct Instruction {
  std::string name;
  Opcode opcode = Opcode::NoOp;
  Engine engine = Engine::Unassigned;
  std::vector<Operand> ins, outs;
  std::unique_ptr<Attributes> attributes;  // null = all defaults
  std::vector<Dependency> dependencies;
  uint32_t queue = kNone;                          // DMA: index into Module::queues
  uint32_t source = 0;                             // index into Module::sources
  int64_t scheduled_start = 0, scheduled_end = 0;  // ticks
  // sync_info
  std::vector<isa::Wait> waits;
  std::vector<isa::Update> updates;
  // Loop
  affine::AxisId axis = kNone;
  std::unique_ptr<Block> body;

  const Attributes& attrs() const;
  Attributes& mutable_attrs();
};

struct Block {
  std::string name;
  std::vector<Instruction> instructions;
};

struct Queue {
  std::string name;
  isa::QueueType type = isa::QueueType::Data;
  Engine trigger = Engine::SP;
  int32_t num_dma_engines = 16;
};

struct Function {
  std::string name = "main";
  std::vector<MemoryLocationSet> sets;
  std::vector<MemoryLocation> locations;
  std::vector<LoopAxis> axes;
  Block block;
};

struct Module {
  std::string arch = "gen3";        // spelling of spec/bir.md §3.2
  std::vector<Function> functions;  // "main" first
  std::vector<Queue> queues;
  std::vector<isa::SourceInst>
      sources;  // provenance table; Instruction::source indexes it, entry 0 = unknown
  std::shared_ptr<affine::Context> affine = std::make_shared<affine::Context>();

  Function& main() { return functions.front(); }
  const Function& main() const { return functions.front(); }
};

struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  int ordinal;
  std::string_view engines;
  int min_level;
  int ins_min, ins_max, outs_min, outs_max;
};
const OpcodeInfo& info(Opcode opcode);
std::optional<Opcode> opcode_from_name(std::string_view name);
/// Load, Save, DMACopy.
bool is_dma(Opcode opcode);

}  // namespace ncc::bir
