// The event loop behind run(): five in-order sequencers, the DMA rings and the semaphores, in simulated time.
//
// Events are taken in order of time, then completions before dispatches, then creation. A sequencer's
// dispatch evaluates the waits of its next bundle; once they hold, the cost model gives start, issue and
// completion, and the instruction's data effects happen at once: everything ordered before it has been
// executed then, and what isn't ordered is a race, so doing reads and writes at one point gives the result of
// any legal order. Its update fires at completion. Timing never looks at data, except at registers loaded
// from memory (DESIGN section 14, M4, M6, M7).
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "ir-formats/isa/machine/functional_core.h"
#include "ir-formats/isa/machine/hazards.h"
#include "ir-formats/isa/machine/machine.h"

namespace ncc::machine {

class EventLoop {
 public:
  EventLoop(const isa::Program& program, const ArchModel& arch, const HostMemory& memory,
            const RunOptions& options);
  Result<RunReport> run();

 private:
  enum class Kind : uint8_t { Update, DmaReady, DmaDone, Dispatch };  // order of events at one time
  struct Event {
    Ticks time;
    Kind kind;
    int64_t sequence;
    int lane;       // engine or queue
    int64_t index;  // Update: pending update; DmaReady, DmaDone: transfer
    bool operator>(const Event& other) const {
      if (time != other.time) return time > other.time;
      if (kind != other.kind) return kind > other.kind;
      return sequence > other.sequence;
    }
  };
  // Woken: a wait holds and the dispatch is on its way.
  enum class Phase : uint8_t { Running, Waiting, Woken, AtBarrier, Ended };
  struct Sequencer {
    uint32_t pc = 0;
    Phase status = Phase::Running;
    Ticks since = 0;  // when the current bundle could first have been dispatched
  };
  struct PendingUpdate {
    isa::Update update;
    Release release;
    uint32_t source;
  };
  struct Transfer {
    int queue;
    uint32_t block;
    Knowledge known;
  };
  struct Ring {
    std::deque<Transfer> pending;    // triggered, latency not yet begun
    std::deque<Transfer> in_flight;  // latency or data moving, in order
    int started = 0;                 // of in_flight: data moving
    std::deque<Release> releases;    // of the started ones
  };
  struct Semaphore {
    int32_t value = 0;
    SemaphoreHistory history;
  };

  void push(Ticks time, Kind kind, int lane, int64_t index = 0);
  Status dispatch(int engine, Ticks now);
  Status execute(int engine, const isa::MachineInst& inst, Ticks now);
  Status start_datapath(int engine, const isa::MachineInst& inst, uint32_t pc);
  Status control_flow(int engine, const isa::MachineInst& inst, const Timing& timing);
  bool waits_hold(int engine, const isa::MachineInst& inst, Status& status);
  void consume_waits(int engine, const isa::MachineInst& inst);
  Status apply_update(const isa::Update& update, const Release& release, Ticks now);
  void set_semaphore(int index, int32_t value, const Release& release, Ticks now);
  void push_update(int engine, const isa::MachineInst& inst, Ticks time);
  void wake(Ticks now);
  void arrive_at_barrier(int engine, Ticks now);
  void release_barrier();
  void end_stream(int engine, Ticks now);

  Status trigger(int engine, const isa::MachineInst& inst, Ticks now);
  void begin_latency(int queue, Ticks now);
  Status begin_transfer(int queue, Ticks now);
  Status end_transfer(int queue, Ticks now);
  Status count_dma_bytes(const isa::DmaDescriptor& descriptor);

  Status check_accesses(int engine, const isa::MachineInst& inst, uint32_t pc);
  Status check_transfer(const isa::DmaDescriptor& descriptor, const Transfer& transfer);
  Status race_error(const Race& race) const;
  std::string describe(const Accessor& who) const;
  uint32_t source_of(const Accessor& who) const;

  Status annotated(const Status& status, uint32_t source, std::string_view what) const;
  Status deadlock() const;
  Status check_outputs() const;
  void record(int lane, isa::Opcode opcode, Ticks start, Ticks end, uint32_t source);
  bool moves_data() const { return options_.mode != RunMode::TimingOnly; }
  bool checks_races() const { return options_.mode != RunMode::Functional; }

  const isa::Program& program_;
  const ArchModel& arch_;
  const RunOptions options_;
  FunctionalCore core_;
  HazardChecker hazards_;
  EngineState engines_;
  std::array<Ticks, 8> busy_until_{};
  DmaState dma_;

  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  int64_t sequence_ = 0;
  std::array<Sequencer, 8> sequencers_{};
  std::vector<Ring> rings_;
  std::array<Semaphore, 256> semaphores_{};
  struct EventBit {
    bool set = false;
    Release release;
  };
  std::array<EventBit, 256> event_bits_{};
  std::vector<PendingUpdate> updates_;
  std::vector<int64_t> free_updates_;
  Ticks last_ = 0;
  RunReport report_;
};

}  // namespace ncc::machine
