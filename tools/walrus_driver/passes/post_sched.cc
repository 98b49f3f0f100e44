// Reorders the flat block by the list scheduler (schedule.h): the new program order is the order of
// placement, queues are the ones chosen there, scheduled_start and scheduled_end are ticks. Edges are
// cleared: dep_opt rebuilds them for the new order. Presumes addresses, edges, queues and trigger engines.
// Source: spec/walrus.md §3.4.
#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/schedule.h"

namespace ncc::walrus {
namespace {

// Above this many instructions only the first two rules are tried.
constexpr size_t kTryAllBelow = 100'000;

class PostSched final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) {
      ScheduleInput input;
      NCC_TRY(make_schedule_input(module, fn, ctx.arch, input));
      Schedule best = schedule(module, fn, ctx.arch, input, Priority::EmissionOrder);
      int64_t chosen = 0;
      for (Priority priority : {Priority::CoarseHeight, Priority::Height}) {
        if (priority == Priority::Height && fn.block.instructions.size() > kTryAllBelow) break;
        Schedule other = schedule(module, fn, ctx.arch, input, priority);
        if (other.makespan >= best.makespan) continue;
        best = std::move(other);
        chosen = static_cast<int64_t>(priority);
      }
      apply(fn, best);
      ctx.metrics["schedule_rule"] = chosen;
      ctx.count("PostSchedEstLatency", machine::ns_from_ticks(best.makespan, ctx.arch));
    }
    return Status::ok();
  }

 private:
  static void apply(bir::Function& fn, const Schedule& schedule) {
    std::vector<bir::Instruction> list;
    list.reserve(schedule.order.size());
    for (uint32_t i : schedule.order) {
      bir::Instruction& inst = fn.block.instructions[i];
      inst.scheduled_start = schedule.start[i];
      inst.scheduled_end = schedule.end[i];
      if (schedule.queue[i] != bir::kNone) inst.queue = schedule.queue[i];
      inst.dependencies.clear();
      list.push_back(std::move(inst));
    }
    fn.block.instructions = std::move(list);
  }
};

}  // namespace

std::unique_ptr<Pass> make_post_sched() { return std::make_unique<PostSched>(); }

}  // namespace ncc::walrus
