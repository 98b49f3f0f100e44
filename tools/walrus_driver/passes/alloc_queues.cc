// alloc_queues gives the module its DMA queues, a few per role that occurs, and spreads the transfers of a
// role over them in turn; post_sched chooses again when it knows the times. assign_trigger_engine says whose
// stream starts the transfers: SP, which has nothing else to do, in the order that the scheduler found; a
// trigger that waits delays no compute. Source: spec/walrus.md §5.4, §5.5; docs/decisions.md.
#include <array>

#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/queue_roles.h"

namespace ncc::walrus {
namespace {

constexpr size_t kRoles = std::size(kQueueRoles);

class AllocQueues final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    std::array<int64_t, kRoles> transfers{};
    for_each_dma(module,
                 [&](const bir::Function& fn, bir::Instruction& inst) { ++transfers[queue_role(fn, inst)]; });
    module.queues.clear();
    std::array<uint32_t, kRoles> first{}, count{}, next{};
    for (size_t role = 0; role < kRoles; ++role) {
      first[role] = static_cast<uint32_t>(module.queues.size());
      count[role] = static_cast<uint32_t>(std::min<int64_t>(transfers[role], kQueueRoles[role].queues));
      for (uint32_t i = 0; i < count[role]; ++i)
        module.queues.push_back(
            {fmt::format("{}{}", kQueueRoles[role].stem, i), kQueueRoles[role].type, bir::Engine::SP, 16});
    }
    for_each_dma(module, [&](const bir::Function& fn, bir::Instruction& inst) {
      const int role = queue_role(fn, inst);
      inst.queue = first[role] + next[role]++ % count[role];
    });
    ctx.count("queues", std::ssize(module.queues));
    return Status::ok();
  }

 private:
  template <class F>
  static void for_each_dma(bir::Module& module, F&& f) {
    for (bir::Function& fn : module.functions)
      for (bir::Instruction& inst : fn.block.instructions)
        if (bir::is_dma(inst.opcode)) f(fn, inst);
  }
};

class AssignTriggerEngine final : public Pass {
 public:
  Status run(bir::Module& module, PassContext&) override {
    for (bir::Queue& queue : module.queues) queue.trigger = bir::Engine::SP;
    for (bir::Function& fn : module.functions)
      for (bir::Instruction& inst : fn.block.instructions)
        if (bir::is_dma(inst.opcode)) inst.engine = module.queues[inst.queue].trigger;
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_alloc_queues() { return std::make_unique<AllocQueues>(); }
std::unique_ptr<Pass> make_assign_trigger_engine() { return std::make_unique<AssignTriggerEngine>(); }

}  // namespace ncc::walrus
