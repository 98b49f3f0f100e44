#include "tools/walrus_driver/schedule.h"

#include <algorithm>
#include <array>
#include <queue>
#include <string_view>

#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

using machine::Ticks;

constexpr int kDmaLane = 8;  // after the engines
constexpr int kLanes = 9;
// A height step: a share of the critical path, so that the number of steps is bounded.
constexpr int64_t kHeightSteps = 64;
// How long before the DMA engines run dry the next transfer is handed out, besides the start latency.
constexpr int64_t kDmaWindowNs = 1000;
// An activation that waits this many table switches for its table goes first.
constexpr int64_t kTablePatience = 4;
constexpr int64_t kTableSwitchNs = 1300;

struct Candidate {
  int64_t rank;  // smaller goes first
  uint32_t inst;
  bool operator<(const Candidate& other) const {  // for max-heaps
    return std::tie(rank, inst) > std::tie(other.rank, other.inst);
  }
};
struct Pending {
  Ticks ready;
  uint32_t inst;
  bool operator<(const Pending& other) const {
    return std::tie(ready, inst) > std::tie(other.ready, other.inst);
  }
};
struct Lane {
  std::priority_queue<Pending> pending;  // ready later than the lane is free
  std::priority_queue<Candidate> available;
  std::priority_queue<Candidate> other_table;  // Activation only: tables that are not resident
};

class ListScheduler {
 public:
  ListScheduler(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                const ScheduleInput& input, Priority priority)
      : module_(module),
        list_(fn.block.instructions),
        arch_(arch),
        in_(input),
        dma_(static_cast<int>(module.queues.size())) {
    const size_t n = list_.size();
    result_.order.reserve(n);
    result_.start.assign(n, 0);
    result_.end.assign(n, 0);
    result_.queue.assign(n, bir::kNone);
    ready_.assign(n, 0);
    waiting_.assign(n, 0);
    rank_.assign(n, 0);
    int64_t tallest = 1;
    for (int64_t h : in_.height) tallest = std::max(tallest, h);
    const int64_t step = std::max<int64_t>(1, tallest / kHeightSteps);
    for (uint32_t i = 0; i < n; ++i) {
      waiting_[i] = static_cast<uint32_t>(list_[i].dependencies.size());
      if (priority == Priority::CoarseHeight) rank_[i] = -(in_.height[i] / step);
      if (priority == Priority::Height) rank_[i] = -in_.height[i];
    }
    find_queue_families();
    latency_ = machine::ticks_from_ns(static_cast<double>(arch.dma_start_latency_ns), arch);
    window_ = machine::ticks_from_ns(kDmaWindowNs, arch);
    table_patience_ = machine::ticks_from_ns(kTablePatience * kTableSwitchNs, arch);
  }

  Schedule run() {
    for (uint32_t i = 0; i < list_.size(); ++i)
      if (waiting_[i] == 0) lanes_[lane_of(i)].pending.push({0, i});
    while (result_.order.size() < list_.size()) {
      int best = -1;
      Ticks best_at = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        Ticks at = 0;
        if (!earliest(lane, at)) continue;
        if (best < 0 || at < best_at) {
          best = lane;
          best_at = at;
        }
      }
      NCC_CHECK(best >= 0, "the dependences of the block have a cycle");
      commit(take(best, best_at));
    }
    return std::move(result_);
  }

 private:
  int lane_of(uint32_t i) const {
    return in_.transfer_of[i] != bir::kNone ? kDmaLane : static_cast<int>(list_[i].engine);
  }

  /// Queues that may stand in for each other: same name up to the number.
  void find_queue_families() {
    const auto stem = [](std::string_view name) {
      while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
      return name;
    };
    family_.resize(module_.queues.size());
    for (uint32_t a = 0; a < module_.queues.size(); ++a)
      for (uint32_t b = 0; b < module_.queues.size(); ++b)
        if (stem(module_.queues[a].name) == stem(module_.queues[b].name)) family_[a].push_back(b);
  }

  Ticks lane_free(int lane) const {
    if (lane != kDmaLane) return std::max(state_.lanes[lane].busy, state_.lanes[lane].issue);
    Ticks total = 0;
    for (Ticks free : dma_free_) total += free;
    const Ticks mean = total / machine::kDmaEngines;
    return std::max(state_.lanes[static_cast<int>(bir::Engine::SP)].issue, mean - latency_ - window_);
  }

  bool earliest(int lane, Ticks& at) const {
    const Lane& l = lanes_[lane];
    if (!l.available.empty() || !l.other_table.empty()) {
      at = lane_free(lane);
      return true;
    }
    if (l.pending.empty()) return false;
    at = std::max(lane_free(lane), l.pending.top().ready);
    return true;
  }

  bool needs_switch(uint32_t i) const {
    return in_.table_sets[i] != 0 && (in_.table_sets[i] & resident_) == 0;
  }

  uint32_t take(int lane, Ticks at) {
    Lane& l = lanes_[lane];
    while (!l.pending.empty() && l.pending.top().ready <= at) {
      const uint32_t i = l.pending.top().inst;
      l.pending.pop();
      (needs_switch(i) ? l.other_table : l.available).push({rank_[i], i});
    }
    const auto pop = [](std::priority_queue<Candidate>& heap) {
      const uint32_t i = heap.top().inst;
      heap.pop();
      return i;
    };
    if (l.other_table.empty()) return pop(l.available);
    if (l.available.empty()) return pop(l.other_table);
    const uint32_t other = l.other_table.top().inst;
    const bool urgent =
        l.other_table.top().rank < l.available.top().rank ||
        (l.other_table.top().rank == l.available.top().rank && other < l.available.top().inst);
    return pop(urgent && at - ready_[other] > table_patience_ ? l.other_table : l.available);
  }

  void commit(uint32_t i) {
    const Ticks done = in_.transfer_of[i] != bir::kNone ? start_transfer(i) : execute(i);
    result_.order.push_back(i);
    result_.end[i] = done;
    result_.makespan = std::max(result_.makespan, done);
    for (uint32_t s = in_.successor_begin[i]; s < in_.successor_begin[i + 1]; ++s) {
      const uint32_t next = in_.successors[s];
      if (!ordered_by_engine(list_[i], list_[next])) ready_[next] = std::max(ready_[next], done);
      if (--waiting_[next] == 0) lanes_[lane_of(next)].pending.push({ready_[next], next});
    }
  }

  Ticks execute(uint32_t i) {
    if (needs_switch(i)) switch_table(i);
    if (in_.table_sets[i] != 0) resident_ &= in_.table_sets[i];
    Ticks done = 0;
    bool first = true;
    for (uint32_t k = in_.first_key[i]; k < in_.first_key[i + 1]; ++k) {
      const machine::CostKey& key = in_.keys[k];
      if (key.opcode == isa::Opcode::Ldweights && in_.weights[i] == loaded_weights_) continue;
      const machine::Timing timing = machine::advance(state_, key, arch_, ready_[i]);
      if (first) result_.start[i] = timing.start;
      first = false;
      done = std::max(done, timing.done);
    }
    if (in_.weights[i] != bir::kNone) loaded_weights_ = in_.weights[i];
    return done;
  }

  void switch_table(uint32_t i) {
    machine::CostKey load;
    load.opcode = isa::Opcode::ActivationTableLoad;
    load.engine = bir::Engine::Activation;
    // Only a set other than the resident one costs a switch; lower_act picks the sets for good.
    load.table_set = static_cast<uint8_t>(state_.table_set == 0 ? 1 : 0);
    machine::advance(state_, load, arch_, 0);
    resident_ = in_.table_sets[i];
    Lane& l = lanes_[static_cast<int>(bir::Engine::Activation)];
    std::vector<Candidate> all;
    for (auto* heap : {&l.available, &l.other_table})
      for (; !heap->empty(); heap->pop()) all.push_back(heap->top());
    for (const Candidate& c : all) (needs_switch(c.inst) ? l.other_table : l.available).push(c);
  }

  Ticks start_transfer(uint32_t i) {
    machine::CostKey trigger;
    trigger.opcode = isa::Opcode::DmaTrigger;
    trigger.engine = list_[i].engine;
    const machine::Timing timing = machine::advance(state_, trigger, arch_, ready_[i]);
    uint32_t queue = list_[i].queue;
    Ticks best = 0;
    bool found = false;
    for (uint32_t q : family_[queue]) {
      const Ticks at = dma_.data_ready(static_cast<int>(q), timing.done, arch_);
      if (!found || at < best || (at == best && turn_[q] < turn_[queue])) {
        best = at;
        queue = q;
        found = true;
      }
    }
    turn_[queue] = ++turns_;
    const machine::DmaCost& cost = in_.transfers[in_.transfer_of[i]];
    const machine::DmaTiming moved = dma_.move(static_cast<int>(queue), cost, arch_, best);
    for (size_t e = 0; e < dma_free_.size(); ++e) {
      if (cost.engine_bytes[e] == 0) continue;
      const size_t engine = cost.any_engine ? (e + next_engine_) % dma_free_.size() : e;
      dma_free_[engine] = std::max(best, dma_free_[engine]) + machine::dma_ticks(cost.engine_bytes[e], arch_);
    }
    if (cost.any_engine)
      next_engine_ += static_cast<size_t>(
          std::count_if(cost.engine_bytes.begin(), cost.engine_bytes.end(), [](int64_t b) { return b > 0; }));
    result_.queue[i] = queue;
    result_.start[i] = timing.start;
    return moved.done;
  }

  const bir::Module& module_;
  const std::vector<bir::Instruction>& list_;
  const ArchModel& arch_;
  const ScheduleInput& in_;
  machine::EngineState state_;
  machine::DmaState dma_;
  std::array<Ticks, machine::kDmaEngines> dma_free_{};
  size_t next_engine_ = 0;
  std::array<Lane, kLanes> lanes_;
  std::vector<Ticks> ready_;
  std::vector<uint32_t> waiting_;
  std::vector<int64_t> rank_;
  std::vector<std::vector<uint32_t>> family_;
  std::array<int64_t, 256> turn_{};
  int64_t turns_ = 0;
  uint64_t resident_ = 0;
  uint32_t loaded_weights_ = bir::kNone;
  Ticks latency_ = 0, window_ = 0, table_patience_ = 0;
  Schedule result_;
};

}  // namespace

Schedule schedule(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                  const ScheduleInput& input, Priority priority) {
  return ListScheduler(module, fn, arch, input, priority).run();
}

}  // namespace ncc::walrus
