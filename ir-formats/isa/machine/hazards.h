// Races: two accesses to a common byte, at least one a write, that happens-before does not order (DESIGN
// section 14, M5). Idea: every engine's datapath and every DMA queue is a component with a counter of its
// accesses. A component knows, for each other one, up to which access it is ordered after (a vector clock);
// waits, drains and triggers pass knowledge on. Memories keep, per interval of bytes, the accesses that later
// ones must still be compared with. Independent of timing.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ir-formats/isa/machine/footprint.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

/// For each component, the number of its accesses that are known to be complete.
using Clocks = std::vector<uint32_t>;
using Knowledge = std::shared_ptr<const Clocks>;

/// What an update passes on: knowledge of its component, and the component's own count at that moment.
struct Release {
  Knowledge known;
  int component = 0;
  uint32_t clock = 0;
};

/// Who made an access, for messages: an instruction of a stream or a descriptor of a queue.
struct Accessor {
  bool is_queue = false;
  uint16_t lane = 0;   // engine or queue index
  uint32_t index = 0;  // bundle or descriptor index
};

struct Race {
  Accessor earlier, later;
  bool earlier_writes = false, later_writes = false;
  int64_t byte = 0;  // some byte of the interval where they met
};

/// The accesses of one memory (or DRAM variable) that still matter.
class AccessHistory {
 public:
  struct Access {
    int component;
    uint32_t clock;
    bool write;
    Accessor who;
  };
  /// Checks an access against all earlier ones not ordered before it, then records it.
  std::optional<Race> add(const Footprint& footprint, const Access& access, const Clocks& known);

 private:
  struct Record {
    Access access;
    int16_t first_partition, end_partition;
    std::shared_ptr<const Footprint> sparse;  // null: the whole interval
  };
  struct Cell {
    int64_t end = 0;
    std::vector<Record> records;
  };
  using Cells = std::map<int64_t, Cell>;

  void split_at(int64_t byte);
  std::optional<Race> check(const Cell& cell, int64_t begin, const Footprint& footprint, const Access& access,
                            const Clocks& known) const;
  Cells cells_;  // by first byte; disjoint
};

class HazardChecker {
 public:
  HazardChecker(size_t num_queues, size_t num_variables);

  static constexpr int kEngines = 8;
  int queue_component(int queue) const { return kEngines + queue; }

  /// A datapath instruction begins: its accesses count as the next of its engine.
  void begin_access(int component) { ++clock_[static_cast<size_t>(component)]; }
  std::optional<Race> access(int component, const isa::Access& access, bool write, Accessor who);

  /// What an update of the component's latest instruction releases.
  Release release(int component) const {
    const auto i = static_cast<size_t>(component);
    return {known_[i], component, clock_[i]};
  }
  void acquire(int component, const Release& release);
  /// The engine waited for all its own earlier instructions.
  void drain(int engine) { acquire(engine, release(engine)); }
  /// What the engine's sequencer knows now, for a DMA it triggers (its own running instructions excluded).
  Knowledge knowledge(int component) const { return known_[static_cast<size_t>(component)]; }
  void acquire(int component, const Knowledge& known);

 private:
  AccessHistory& history(const isa::Access& access);

  std::vector<Knowledge> known_;
  std::vector<uint32_t> clock_;
  AccessHistory sbuf_, psum_;
  std::vector<AccessHistory> dram_;
};

/// The releases behind one semaphore's value since it was last zero or written.
class SemaphoreHistory {
 public:
  void add(int32_t value_after, Release release);
  void clear() {
    entries_.clear();
    monotone_ = true;
  }
  /// Makes `component` ordered after the updates that brought the value to `threshold`.
  void acquire(HazardChecker& checker, int component, int32_t threshold) const;

 private:
  struct Entry {
    int32_t value;
    Release release;
  };
  std::vector<Entry> entries_;
  std::vector<int> producers_;
  bool monotone_ = true;
};

}  // namespace ncc::machine
