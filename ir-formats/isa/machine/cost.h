// The cost model: how long an instruction or a DMA transfer takes, as a state machine over one core's
// engines. It reads the instruction alone, never data, so the tile chooser (hlo-opt), the scheduler
// (walrus_driver) and the machine's event loop share it. Times are ticks of ArchModel::ticks_per_second.
// Sources: spec/arch.md §6.3, §6.4 (rows in costs.def); DESIGN section 14 M3, M6.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

using Ticks = int64_t;

/// How the innermost loop of an operand walks memory, best to worst.
enum class PatternClass : uint8_t {
  Contiguous,   // every element next to the one before
  SmallStride,  // innermost byte step under 16, or a break in an outer dim
  WideStride,   // innermost byte step of 16 or more: half rate
};

/// The bytes an operand may touch, as a rectangle: partitions x bytes of one on-chip memory.
struct Box {
  isa::Space space = isa::Space::None;
  uint8_t first_partition = 0;
  uint8_t num_partitions = 0;
  int64_t first_byte = 0, end_byte = 0;  // half open

  bool overlaps(const Box& other) const {
    return space != isa::Space::None && space == other.space && first_byte < other.end_byte &&
           other.first_byte < end_byte && first_partition < other.first_partition + other.num_partitions &&
           other.first_partition < first_partition + num_partitions;
  }
};
/// The rectangle of an on-chip access; space None for DRAM or an absent operand.
Box bounding_box(const isa::Access& access);

/// All that the cost of an instruction depends on. cost_key() fills it from a MachineInst; hlo-opt fills it
/// from a tile statement and leaves banks and boxes empty (then the caller states dependences through
/// `ready`).
struct CostKey {
  isa::Opcode opcode = isa::Opcode::Nop;
  isa::Engine engine = isa::Engine::SP;
  isa::AluOp op0 = isa::AluOp::Bypass, op1 = isa::AluOp::Bypass;
  isa::PerfMode perf_mode = isa::PerfMode::None;
  Dtype in0 = Dtype::F32, in1 = Dtype::F32, out = Dtype::F32;
  isa::Space in0_space = isa::Space::None, in1_space = isa::Space::None, out_space = isa::Space::None;
  PatternClass pattern = PatternClass::Contiguous;  // the worst of the operands
  bool accumulates = false;                         // also reads out or feeds the engine's accumulator
  bool zero_fill = false;                           // Memset of 0
  bool is_transpose = false;                        // Matmul, exact pass-through
  uint8_t table_set = 0;                            // ActivationTableLoad
  uint8_t psum_banks = 0;                           // bit per bank touched; 0 = none or unknown
  int32_t partitions = 1;                           // of the data operand
  int64_t elements = 0;  // N: per partition, of the largest operand (Matmul: moving free; Ldweights: K rows)
  int64_t stationary_columns = 0;  // S: Ldweights, Matmul

  Box write;
  std::array<Box, 5> reads{};
};
CostKey cost_key(const isa::MachineInst& inst);

/// What decided an instruction's start.
enum class StallCause : uint8_t { None, Wait, Dependence, Table, Weights, PsumBank, SharedPort, DmaQueue };
inline constexpr int kNumStallCauses = 8;
std::string_view name(StallCause cause);

/// Timing state of one core's engines. A value: copy it to look ahead.
struct EngineState {
  struct Lane {
    Ticks issue = 0;  // when the sequencer can take the next instruction
    Ticks busy = 0;   // when the datapath is free
    Ticks done = 0;   // completion of the latest instruction; never decreases
    std::array<Box, 2> recent_writes{};
    std::array<Ticks, 2> recent_ends{};
  };
  std::array<Lane, 8> lanes{};  // by isa::Engine
  // PE: weights are double buffered. The spare buffer is free once the latest Matmul has started.
  Ticks weights_ready = 0, spare_weights_free = 0;
  int table_set = -1;  // resident activation tables; -1 = none
  struct Shared {
    Ticks free = 0;
    isa::Engine owner = isa::Engine::Unassigned;
  };
  std::array<Shared, 8> psum_banks{};  // one engine at a time
  Shared pool_dve_port, activation_dve_psum_port;
};

struct Timing {
  Ticks start = 0;  // operands are read
  Ticks issue = 0;  // the sequencer takes the next instruction
  Ticks end = 0;    // the datapath is free again
  Ticks done = 0;   // writes are complete, updates fire (in order within an engine)
  StallCause cause = StallCause::None;
};

/// Executes the key on the state. `ready`: when the sequencer may start it at the earliest (waits satisfied,
/// producers on other engines complete; for producers on the same engine that the boxes don't show,
/// dependent_ready()). Call in order of `ready` over all engines: shared resources go to who asks first.
Timing advance(EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready = 0);
/// The same without changing the state.
Timing preview(const EngineState& state, const CostKey& key, const ArchModel& arch, Ticks ready = 0);
/// Time the instruction occupies its datapath, alone. Control bundles: one cycle.
Ticks execution_ticks(const CostKey& key, const ArchModel& arch);
/// When an instruction of the same engine may read what one that ended at `producer_done` wrote.
Ticks dependent_ready(Ticks producer_done, isa::Engine engine, const ArchModel& arch);
/// Semaphore, register, branch, trigger and barrier bundles: they use the sequencer only.
bool is_control(isa::Opcode opcode);
/// Whether the opcode has a cost on the engine: control bundles, and rows of costs.def.
bool has_cost_row(isa::Opcode opcode, isa::Engine engine);

// DMA
// ---------------------------------------------------------------------------------------------------------------

inline constexpr int kDmaEngines = 16;

/// Work of one transfer, as bytes of engine time (a run of r contiguous bytes counts max(r, minimum run)).
struct DmaCost {
  std::array<int64_t, kDmaEngines> engine_bytes{};
  int64_t bytes = 0;        // moved, the larger side when cast
  bool any_engine = false;  // DRAM -> DRAM: shares go round, starting at the next engine in turn
};
DmaCost dma_cost(const isa::DmaDescriptor& descriptor, const ArchModel& arch);

struct DmaTiming {
  Ticks start = 0;  // data begins to move, reads happen
  Ticks done = 0;   // all shares written; in order within a queue
};

/// Timing state of the 16 engines and the rings of every queue.
class DmaState {
 public:
  explicit DmaState(int num_queues = 0) : queues_(static_cast<size_t>(num_queues)) {}
  /// When the next transfer of `queue`, triggered at `trigger`, may move data: start latency, of which at
  /// most ArchModel::dma_overlap_per_ring transfers of a ring overlap.
  Ticks data_ready(int queue, Ticks trigger, const ArchModel& arch) const;
  /// Reserves the engines from `ready` (= data_ready(), or later) on, first come first served.
  DmaTiming move(int queue, const DmaCost& cost, const ArchModel& arch, Ticks ready);
  /// data_ready and move at once: what a scheduler calls per transfer.
  DmaTiming advance(int queue, const DmaCost& cost, const ArchModel& arch, Ticks trigger) {
    return move(queue, cost, arch, data_ready(queue, trigger, arch));
  }
  Ticks busy_ticks(int engine) const { return busy_[static_cast<size_t>(engine)]; }
  /// Adds queues up to the given number.
  void grow(int num_queues) {
    if (queues_.size() < static_cast<size_t>(num_queues)) queues_.resize(static_cast<size_t>(num_queues));
  }

 private:
  struct Ring {
    std::array<Ticks, 64> done{};  // completion times of the latest transfers, by sequence number
    int64_t count = 0;
    Ticks last_done = 0;
  };
  std::array<Ticks, kDmaEngines> free_{}, busy_{};
  int next_engine_ = 0;
  std::vector<Ring> queues_;
};

// Units
// -------------------------------------------------------------------------------------------------------------

Ticks ticks_from_ns(double ns, const ArchModel& arch);  // rounds up
/// Whole nanoseconds, rounded down.
int64_t ns_from_ticks(Ticks ticks, const ArchModel& arch);
Ticks ticks_per_cycle(isa::Engine engine, const ArchModel& arch);
/// Engine time of `bytes` at the planning rate, rounded up.
Ticks dma_ticks(int64_t bytes, const ArchModel& arch);

/// Set ids of ActivationTableLoad: whether a set holds a function's table (functions without a table are in
/// every set).
bool table_set_holds(int set, isa::ActivationFunction function);
inline constexpr int kNumTableSets = 21;
std::string_view table_set_name(int set);

}  // namespace ncc::machine
