// Instruction side of the cost model: choice of the row of costs.def, and the engine state machine.
// Idea: a sequencer hands instructions in order to its engine's datapath and is free again one cycle after an
// instruction starts; the datapath is busy for the row's cycles. What can delay a start: waits (the caller's
// `ready`), a producer on the same engine (end + 60 cycles), weights still loading, a PSUM bank or port
// another engine uses.
#include "ir-formats/isa/machine/cost.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/diag/status.h"

namespace ncc::machine {

using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::Space;

namespace {

constexpr Ticks kDependenceCycles = 60;  // access start-up a dependent instruction can't hide (M6)
constexpr int64_t kWideStrideBytes = 16;

enum class Condition : uint8_t {
  Always,
  Fp32,
  Fp32Transpose,
  Transpose,
  DoubleRow,
  Accumulates,
  Resident,         // the table set is loaded already
  Fast4,            // DVE fast modes: 16-bit, all in SBUF, contiguous
  Fast2,            // the same, not contiguous or with a PSUM side that is contiguous
  Inputs16Sbuf,     // DVE fast modes: both inputs 16-bit in SBUF
  ZeroFill16,       // fill value 0, 16-bit
  MixedPsumSbuf,    // one input in PSUM, the other in SBUF
  Bf16Simple,       // all bf16 in SBUF, contiguous, add / mult / subtract
  Bf16EvenSubMult,  // bf16, subtract or mult, even N
  Bf16AddMax,       // bf16 in and out, add or max
  DramSide,
};

struct CostRow {
  Opcode opcode;
  std::string_view engines;
  Condition when;
  int minimum, num, den, extra, extra_ns;
  std::string_view origin;
};
constexpr CostRow kCosts[] = {
#define COST(opcode, engines, when, minimum, num, den, extra, extra_ns, origin) \
  {Opcode::opcode, engines, Condition::when, minimum, num, den, extra, extra_ns, origin},
#include "ir-formats/isa/machine/costs.def"
};

char letter(Engine engine) {
  constexpr std::string_view kLetters = "?PAE?VS?";  // by Engine
  return kLetters[static_cast<size_t>(engine)];
}

bool is_fp32(Dtype dtype) { return dtype == Dtype::F32; }
bool is_16_bit(Dtype dtype) { return info(dtype).bits == 16; }

bool all_in_sbuf(const CostKey& k) {
  return k.in0_space == Space::Sbuf && k.out_space == Space::Sbuf &&
         (k.in1_space == Space::Sbuf || k.in1_space == Space::None);
}
bool all_bf16(const CostKey& k) {
  return k.in0 == Dtype::BF16 && k.out == Dtype::BF16 && (k.in1 == Dtype::BF16 || k.in1_space == Space::None);
}
bool all_16_bit(const CostKey& k) {
  return is_16_bit(k.in0) && is_16_bit(k.out) && (k.in1_space == Space::None || is_16_bit(k.in1));
}
bool is_one_of(AluOp op, std::initializer_list<AluOp> set) {
  return std::find(set.begin(), set.end(), op) != set.end();
}

bool holds(Condition condition, const CostKey& k, const ArchModel& arch, bool resident) {
  const bool contiguous = k.pattern == PatternClass::Contiguous;
  switch (condition) {
    case Condition::Always:
      return true;
    case Condition::Fp32:
      return is_fp32(k.in0);
    case Condition::Fp32Transpose:
      return k.is_transpose && is_fp32(k.in0);
    case Condition::Transpose:
      return k.is_transpose;
    case Condition::DoubleRow:
      return k.perf_mode == isa::PerfMode::DoubleRow;
    case Condition::Accumulates:
      return k.accumulates;
    case Condition::Resident:
      return resident;
    case Condition::Fast4:
      return arch.has_dve_fast_modes && all_16_bit(k) && all_in_sbuf(k) && contiguous;
    case Condition::Fast2:
      return arch.has_dve_fast_modes && all_16_bit(k) &&
             (all_in_sbuf(k) ? k.pattern == PatternClass::SmallStride : contiguous);
    case Condition::Inputs16Sbuf:
      return arch.has_dve_fast_modes && is_16_bit(k.in0) && is_16_bit(k.in1) && k.in0_space == Space::Sbuf &&
             k.in1_space == Space::Sbuf;
    case Condition::ZeroFill16:
      return k.zero_fill && is_16_bit(k.out);
    case Condition::MixedPsumSbuf:
      return (k.in0_space == Space::Psum && k.in1_space == Space::Sbuf) ||
             (k.in0_space == Space::Sbuf && k.in1_space == Space::Psum);
    case Condition::Bf16Simple:
      return all_bf16(k) && all_in_sbuf(k) && contiguous &&
             is_one_of(k.op0, {AluOp::Add, AluOp::Mult, AluOp::Subtract});
    case Condition::Bf16EvenSubMult:
      return all_bf16(k) && is_one_of(k.op0, {AluOp::Mult, AluOp::Subtract}) &&
             is_one_of(k.op1, {AluOp::Mult, AluOp::Subtract}) && k.elements % 2 == 0;
    case Condition::Bf16AddMax:
      return all_bf16(k) && is_one_of(k.op0, {AluOp::Add, AluOp::Max});
    case Condition::DramSide:
      return k.in0_space == Space::Dram || k.out_space == Space::Dram;
  }
  return false;
}

Ticks execution_ticks(const CostKey& key, const ArchModel& arch, bool resident) {
  const Ticks cycle = ticks_per_cycle(key.engine, arch);
  if (is_control(key.opcode)) return cycle;
  int64_t n = key.elements;
  if (key.opcode == Opcode::Matmul) n = std::max(n, std::min<int64_t>(64, key.stationary_columns));
  if (key.opcode == Opcode::Ldweights) n = key.stationary_columns;
  if (key.pattern == PatternClass::WideStride) n *= 2;
  for (const CostRow& row : kCosts) {
    if (row.opcode != key.opcode || row.engines.find(letter(key.engine)) == std::string_view::npos) continue;
    if (!holds(row.when, key, arch, resident)) continue;
    const int64_t cycles = std::max<int64_t>(row.minimum, (n * row.num + row.den - 1) / row.den) + row.extra;
    return cycles * cycle + ticks_from_ns(row.extra_ns, arch);
  }
  return std::max<int64_t>(64, n) *
         cycle;  // not legal on this engine: the machine refuses it, the model need not
}

PatternClass pattern_class(const isa::Access& access) {
  const int64_t size = size_bytes(access.dtype);
  int64_t expected = 1;
  bool contiguous = true;
  for (int i = access.rank - 1; i >= 0; --i) {
    if (access.dims[i].count == 1) continue;
    contiguous = contiguous && access.dims[i].step == expected;
    expected *= access.dims[i].count;
  }
  if (contiguous) return PatternClass::Contiguous;
  for (int i = access.rank - 1; i >= 0; --i) {
    if (access.dims[i].count == 1) continue;
    return std::abs(access.dims[i].step) * size >= kWideStrideBytes ? PatternClass::WideStride
                                                                    : PatternClass::SmallStride;
  }
  return PatternClass::Contiguous;
}

uint8_t bank_bits(const Box& box) {
  if (box.space != Space::Psum) return 0;
  unsigned bits = 0;
  for (int64_t bank = box.first_byte / 2048; bank <= (box.end_byte - 1) / 2048 && bank < 8; ++bank)
    bits |= 1u << bank;
  return static_cast<uint8_t>(bits);
}

struct Start {
  Ticks at;
  StallCause cause;
  void delay(Ticks until, StallCause why) {
    if (until <= at) return;
    at = until;
    cause = why;
  }
};

bool uses(const CostKey& key, Space space) {
  return key.in0_space == space || key.in1_space == space || key.out_space == space;
}

void delay_for_shared(Start& start, const EngineState& state, const CostKey& key, const ArchModel& arch) {
  for (size_t bank = 0; bank < state.psum_banks.size(); ++bank)
    if ((key.psum_banks >> bank) & 1 && state.psum_banks[bank].owner != key.engine)
      start.delay(state.psum_banks[bank].free, StallCause::PsumBank);
  const bool pool_or_dve = key.engine == Engine::Pool || key.engine == Engine::DVE;
  if (arch.shares_pool_dve_port && pool_or_dve && uses(key, Space::Sbuf) &&
      state.pool_dve_port.owner != key.engine)
    start.delay(state.pool_dve_port.free, StallCause::SharedPort);
  const bool act_or_dve = key.engine == Engine::Activation || key.engine == Engine::DVE;
  if (arch.shares_activation_dve_psum_port && act_or_dve && uses(key, Space::Psum) &&
      state.activation_dve_psum_port.owner != key.engine)
    start.delay(state.activation_dve_psum_port.free, StallCause::SharedPort);
}

void take(EngineState::Shared& shared, Engine engine, Ticks until) {
  shared.free = std::max(shared.free, until);
  shared.owner = engine;
}

void occupy_shared(EngineState& state, const CostKey& key, const ArchModel& arch, Ticks until) {
  for (size_t bank = 0; bank < state.psum_banks.size(); ++bank)
    if ((key.psum_banks >> bank) & 1) take(state.psum_banks[bank], key.engine, until);
  const bool pool_or_dve = key.engine == Engine::Pool || key.engine == Engine::DVE;
  if (arch.shares_pool_dve_port && pool_or_dve && uses(key, Space::Sbuf))
    take(state.pool_dve_port, key.engine, until);
  const bool act_or_dve = key.engine == Engine::Activation || key.engine == Engine::DVE;
  if (arch.shares_activation_dve_psum_port && act_or_dve && uses(key, Space::Psum))
    take(state.activation_dve_psum_port, key.engine, until);
}

// Where a datapath instruction starts. PE has no true dependence on itself (it reads SBUF and writes PSUM;
// accumulation is pipelined), so boxes are compared on the other engines only.
Start datapath_start(const EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready) {
  const EngineState::Lane& lane = state.lanes[static_cast<size_t>(key.engine)];
  Start start{lane.issue, StallCause::None};
  start.delay(ready, StallCause::Wait);
  if (key.opcode == Opcode::Ldweights) {
    start.delay(state.spare_weights_free, StallCause::Weights);
    return start;
  }
  if (lane.busy > start.at) start = {lane.busy, StallCause::None};
  if (key.opcode == Opcode::Matmul) start.delay(state.weights_ready, StallCause::Weights);
  if (key.engine != Engine::PE)
    for (size_t i = 0; i < lane.recent_writes.size(); ++i)
      for (const Box& read : key.reads)
        if (read.overlaps(lane.recent_writes[i]))
          start.delay(dependent_ready(lane.recent_ends[i], key.engine, arch), StallCause::Dependence);
  delay_for_shared(start, state, key, arch);
  return start;
}

Timing advance_control(EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready) {
  EngineState::Lane& lane = state.lanes[static_cast<size_t>(key.engine)];
  Start start{lane.issue, StallCause::None};
  start.delay(ready, StallCause::Wait);
  const bool waits_for_engine = key.opcode == Opcode::Drain || key.opcode == Opcode::AllEngineBarrier;
  if (waits_for_engine) start.delay(lane.done, StallCause::Dependence);
  lane.issue = start.at + ticks_per_cycle(key.engine, arch);
  lane.done = std::max(lane.done, lane.issue);
  return {start.at, lane.issue, lane.issue, lane.done, start.cause};
}

}  // namespace

std::string_view name(StallCause cause) {
  constexpr std::string_view kNames[kNumStallCauses] = {"none",    "wait",      "dependence",  "table_load",
                                                        "weights", "psum_bank", "shared_port", "dma_queue"};
  return kNames[static_cast<size_t>(cause)];
}

Box bounding_box(const isa::Access& access) {
  if (access.space != Space::Sbuf && access.space != Space::Psum) return {};
  const int64_t size = size_bytes(access.dtype);
  int64_t low = 0, high = 0;
  for (int i = 0; i < access.rank; ++i) {
    const int64_t span = access.dims[i].step * (access.dims[i].count - 1);
    (span < 0 ? low : high) += span;
  }
  return {access.space, access.start_partition, access.num_partitions, access.offset + low * size,
          access.offset + (high + 1) * size};
}

bool is_control(Opcode opcode) {
  switch (opcode) {
    case Opcode::EventSemaphore:
    case Opcode::Halt:
    case Opcode::Drain:
    case Opcode::Nop:
    case Opcode::RegisterMove:
    case Opcode::RegisterAlu:
    case Opcode::CompareBranch:
    case Opcode::SemaphoreRangeClear:
    case Opcode::DmaTrigger:
    case Opcode::AllEngineBarrier:
    case Opcode::Exit:
    case Opcode::Opaque:
      return true;
    default:
      return false;
  }
}

bool has_cost_row(Opcode opcode, Engine engine) {
  return is_control(opcode) || std::any_of(std::begin(kCosts), std::end(kCosts), [&](const CostRow& row) {
           return row.opcode == opcode && row.engines.find(letter(engine)) != std::string_view::npos;
         });
}

CostKey cost_key(const isa::MachineInst& inst) {
  CostKey key;
  key.opcode = inst.opcode;
  key.engine = inst.engine;
  if (is_control(inst.opcode)) return key;
  key.op0 = inst.op0;
  key.op1 = inst.op1;
  key.perf_mode = inst.perf_mode;
  key.in0 = inst.in0.dtype;
  key.in1 = inst.in1.dtype;
  key.out = inst.out.dtype;
  key.in0_space = inst.in0.space;
  key.in1_space = inst.in1.space;
  key.out_space = inst.out.space;
  key.accumulates = inst.accumulate != isa::AccumulateCommand::Idle;
  key.zero_fill = inst.opcode == Opcode::Memset && inst.scalar0.bits == 0;
  key.is_transpose = inst.is_transpose;
  key.table_set = inst.table_set;
  key.stationary_columns =
      inst.opcode == Opcode::Ldweights ? inst.in0.elements_per_partition() : inst.out.num_partitions;
  key.partitions = inst.in0.present() ? inst.in0.num_partitions : inst.out.num_partitions;
  key.write = bounding_box(inst.out);
  key.reads = {bounding_box(inst.in0), bounding_box(inst.in1), bounding_box(inst.scalar0.pointer),
               bounding_box(inst.scalar1.pointer), bounding_box(inst.scalar2.pointer)};
  const bool keeps_out = inst.opcode == Opcode::CopyPredicated || inst.opcode == Opcode::CastPredicated ||
                         inst.opcode == Opcode::CopyPredicatedScalar;
  if (keeps_out) key.reads[4] = key.write;
  for (const isa::Access* access : {&inst.in0, &inst.in1, &inst.out}) {
    if (!access->present()) continue;
    key.elements = std::max(key.elements, access->elements_per_partition());
    key.pattern = std::max(key.pattern, pattern_class(*access));
    key.psum_banks = static_cast<uint8_t>(key.psum_banks | bank_bits(bounding_box(*access)));
  }
  return key;
}

Ticks execution_ticks(const CostKey& key, const ArchModel& arch) { return execution_ticks(key, arch, false); }

Ticks dependent_ready(Ticks producer_done, Engine engine, const ArchModel& arch) {
  return producer_done + kDependenceCycles * ticks_per_cycle(engine, arch);
}

Timing advance(EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready) {
  if (is_control(key.opcode)) return advance_control(state, key, arch, ready);
  EngineState::Lane& lane = state.lanes[static_cast<size_t>(key.engine)];
  const Start start = datapath_start(state, key, arch, ready);
  const bool is_table_load = key.opcode == Opcode::ActivationTableLoad;
  const bool resident = is_table_load && state.table_set == key.table_set;
  const Ticks end = start.at + execution_ticks(key, arch, resident);
  if (is_table_load) state.table_set = key.table_set;
  if (key.opcode == Opcode::Ldweights) {
    state.weights_ready = end;
    state.spare_weights_free = end;
  } else {
    lane.busy = end;
    if (key.opcode == Opcode::Matmul) state.spare_weights_free = start.at;
  }
  lane.issue = start.at + ticks_per_cycle(key.engine, arch);
  lane.done = std::max(lane.done, end);
  if (key.write.space != Space::None) {
    lane.recent_writes = {lane.recent_writes[1], key.write};
    lane.recent_ends = {lane.recent_ends[1], end};
  }
  occupy_shared(state, key, arch, end);
  return {start.at, lane.issue, end, lane.done, start.cause};
}

Timing preview(const EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready) {
  EngineState copy = state;
  return advance(copy, key, arch, ready);
}

Ticks ticks_from_ns(double ns, const ArchModel& arch) {
  return static_cast<Ticks>(std::ceil(ns * (static_cast<double>(arch.ticks_per_second) / 1e9) - 1e-6));
}

int64_t ns_from_ticks(Ticks ticks, const ArchModel& arch) {
  // Both tick rates are multiples of 100 MHz, so this is exact in integers.
  const int64_t ticks_per_10ns = arch.ticks_per_second / 100'000'000;
  return ticks * 10 / ticks_per_10ns;
}

Ticks ticks_per_cycle(Engine engine, const ArchModel& arch) {
  switch (engine) {
    case Engine::PE:
      return arch.pe_ticks;
    case Engine::Activation:
      return arch.activation_ticks;
    case Engine::DVE:
      return arch.dve_ticks;
    case Engine::Pool:
      return arch.pool_ticks;
    default:
      return arch.sp_ticks;
  }
}

}  // namespace ncc::machine
