// The simulated NeuronCore: runs a decoded program on five in-order streams and the DMA rings, in simulated
// time. Functional effects follow happens-before order, so a program without races gives one result whatever
// the timing. Sources: DESIGN §8, section 14 M1-M7, N1-N4; spec/simulator-numerics.md §1, §3, §5; spec/isa.md
// §10.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/isa/machine/cost.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

/// Host storage of the program's DRAM variables, by index. The machine never copies a variable; it allocates
/// Internal ones that are not bound. Inputs and constants are read only: a program that writes one stops with
/// ESIM001.
class HostMemory {
 public:
  explicit HostMemory(size_t num_variables) : variables_(num_variables) {}
  void bind(size_t variable, std::span<const std::byte> read_only) {
    variables_[variable] = {const_cast<std::byte*>(read_only.data()), static_cast<int64_t>(read_only.size()),
                            false};
  }
  void bind_writable(size_t variable, std::span<std::byte> storage) {
    variables_[variable] = {storage.data(), static_cast<int64_t>(storage.size()), true};
  }

  struct Binding {
    std::byte* data = nullptr;
    int64_t size = 0;
    bool writable = false;
  };
  const Binding& operator[](size_t variable) const { return variables_[variable]; }
  size_t size() const { return variables_.size(); }

 private:
  std::vector<Binding> variables_;
};

enum class RunMode : uint8_t {
  Checking,    // data, time, races, unwritten reads
  Functional,  // data and time, no checks
  TimingOnly,  // time and races, no data: HostMemory is not touched
};

struct RunOptions {
  RunMode mode = RunMode::Checking;
  bool trace = false;                           // fill RunReport::events
  int threads = 1;                              // for large instructions; never changes a result
  int64_t max_instructions = int64_t{4} << 30;  // executed bundles before the run is stopped as endless
};

struct EngineUse {
  int64_t instructions = 0;
  Ticks busy_ticks = 0;  // some instruction on the datapath; what overlaps counts once
  std::array<Ticks, kNumStallCauses> stall_ticks{};  // by StallCause: time between issue and start
};

struct DmaUse {
  int64_t transfers = 0;
  int64_t bytes = 0;                    // moved
  std::array<int64_t, 4> dram_bytes{};  // by isa::VariableKind; distinct bytes of each transfer's DRAM sides
  std::array<Ticks, kDmaEngines> engine_busy_ticks{};
};

/// Time and count of one source instruction.
struct SourceUse {
  int64_t executions = 0;
  Ticks ticks = 0;  // datapath or transfer time, summed
};

/// One box of the trace. Lane: isa::Engine number, or kFirstQueueLane + queue index.
struct TraceEvent {
  static constexpr int kFirstQueueLane = 16;
  int lane = 0;
  isa::Opcode opcode = isa::Opcode::Nop;
  Ticks start = 0, end = 0;
  uint32_t source = 0;
};

struct RunReport {
  Ticks time_ticks = 0;
  int64_t time_ns = 0;
  int64_t instructions = 0;  // bundles executed, all engines
  int64_t pe_macs = 0;       // multiply-accumulates of Matmul, transposes excluded
  std::array<EngineUse, 8> engines{};
  DmaUse dma;
  std::vector<SourceUse> sources;  // by MachineInst::source / DmaDescriptor::source
  std::vector<TraceEvent> events;  // when asked for, in order of start

  const EngineUse& engine(isa::Engine e) const { return engines[static_cast<size_t>(e)]; }
};

/// Runs the program from reset to the end of all five streams. Errors: ESIM001 illegal access or operation,
/// ESIM002 race, ESIM003 read of unwritten bytes (and output bytes never written), ESIM004 deadlock, ESIM005
/// activation argument outside its range; each names the instruction and carries its source location.
Result<RunReport> run(const isa::Program& program, const HostMemory& memory, const RunOptions& options = {});

}  // namespace ncc::machine
