// Proves that the semaphores order every pair of conflicting accesses. Reads waits and increments only, never
// the edges they came from: a wait for a counter's value is translated back to the position that reaches it,
// vector clocks (clocks.h) give what is known complete, and an interval map per memory finds for every access
// the earlier ones it meets. The first pair that is not ordered stops the compile. Independent of timing.
// Presumes final order, addresses and waits. Source: spec/walrus.md §7.2; DESIGN section 14 M5.
#include <unordered_map>

#include "tools/walrus_driver/clocks.h"
#include "tools/walrus_driver/footprint.h"
#include "tools/walrus_driver/interval_map.h"
#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

class RaceCheck final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) NCC_TRY(check(module, fn, ctx));
    return Status::ok();
  }

 private:
  /// For each counter: position in its stream by value / step.
  struct Counter {
    int stream = -1;
    std::vector<int32_t> position;  // position[k]: where the k+1-th increment happens
  };

  static Status check(const bir::Module& module, const bir::Function& fn, PassContext& ctx) {
    Clocks clocks(module, fn);
    std::vector<Counter> counters(256);
    std::unordered_map<int32_t, IntervalMap> areas;
    std::vector<Span> spans;
    const std::vector<bir::Instruction>& list = fn.block.instructions;
    int64_t pairs = 0;
    for (uint32_t i = 0; i < list.size(); ++i) {
      const bir::Instruction& inst = list[i];
      for (const isa::Wait& wait : inst.waits) NCC_TRY(acquire(module, counters, wait, i, list, clocks));
      spans.clear();
      instruction_spans(fn, inst, spans);
      const auto group = static_cast<uint16_t>(completion_stream(inst));
      uint32_t racing = bir::kNone;
      const auto compare = [&](uint32_t earlier) {
        ++pairs;
        if (!clocks.is_ordered(earlier, i) && racing == bir::kNone) racing = earlier;
      };
      for (const Span& span : spans) {
        IntervalMap& map = areas.try_emplace(span.area, true).first->second;
        const IntervalMap::Entry entry{i, span.first, span.last, group};
        if (span.write) {
          map.write(span.low, span.high, entry, [&](uint32_t earlier, bool) { compare(earlier); });
        } else {
          map.read(span.low, span.high, entry, compare);
        }
        if (racing != bir::kNone)
          return error(Code::EBIR004, location_of(module, inst), list[racing].name, inst.name,
                       span.area == kSbufArea   ? "SBUF"
                       : span.area == kPsumArea ? "PSUM"
                                                : "DRAM",
                       span.low);
      }
      clocks.issue(i);
      for (const isa::Update& update : inst.updates)
        count(counters, update.semaphore, inst, clocks.position(i));
      if (bir::is_dma(inst.opcode))
        count(counters, static_cast<uint8_t>(semaphore_of(completion_stream(inst))), inst,
              clocks.position(i));
    }
    ctx.count("race_pairs_checked", pairs);
    return Status::ok();
  }

  static void count(std::vector<Counter>& counters, uint8_t semaphore, const bir::Instruction& inst,
                    int32_t position) {
    counters[semaphore].stream = completion_stream(inst);
    counters[semaphore].position.push_back(position);
  }

  static Status acquire(const bir::Module& module, const std::vector<Counter>& counters,
                        const isa::Wait& wait, uint32_t i, const std::vector<bir::Instruction>& list,
                        Clocks& clocks) {
    const Counter& counter = counters[wait.semaphore];
    const int32_t step = counter.stream >= kFirstQueueStream ? kTransferCount : 1;
    const int32_t increments = (wait.value + step - 1) / step;
    if (increments <= 0) return Status::ok();
    if (increments > std::ssize(counter.position))
      return error(Code::EINT901, "bir_racecheck",
                   fmt::format("'{}' waits for semaphore {} >= {}, which comes later or never", list[i].name,
                               wait.semaphore, wait.value))
          .with_loc(location_of(module, list[i]));
    clocks.wait_for_position(counter.stream, counter.position[static_cast<size_t>(increments - 1)], i);
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_bir_racecheck() { return std::make_unique<RaceCheck>(); }

}  // namespace ncc::walrus
