// Turns the edges that are left into waits and increments. Every engine and every queue has one counter that
// only grows: an instruction somebody waits for adds one when it completes, a transfer adds a fixed number by
// itself; a consumer waits until the counter has reached the producer's running count. Of several waits on
// one counter the highest stays. Presumes dep_reduction. No edge may be added afterwards. Source:
// spec/walrus.md §4.6, §4.7; DESIGN section 14 M4.
#include <algorithm>

#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

class AllocSemaphores final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    if (semaphore_of(num_streams(module) - 1) >= ctx.arch.num_semaphores)
      return error(Code::EINT901, "alloc_semaphores",
                   fmt::format("{} queues need more than {} semaphores", module.queues.size(),
                               ctx.arch.num_semaphores));
    for (bir::Function& fn : module.functions) assign(module, fn, ctx);
    return Status::ok();
  }

 private:
  static void assign(const bir::Module& module, bir::Function& fn, PassContext& ctx) {
    std::vector<bir::Instruction>& list = fn.block.instructions;
    std::vector<bool> awaited(list.size(), false);
    for (const bir::Instruction& inst : list)
      for (const bir::Dependency& dep : inst.dependencies) awaited[dep.predecessor] = true;
    std::vector<int32_t> running(static_cast<size_t>(num_streams(module)), 0);
    std::vector<int32_t> value(list.size(), 0);  // of the counter once this instruction has completed
    int64_t waits = 0, updates = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      bir::Instruction& inst = list[i];
      const int stream = completion_stream(inst);
      const bool is_dma = bir::is_dma(inst.opcode);
      if (is_dma) {
        value[i] = running[stream] += kTransferCount;
      } else if (awaited[i]) {
        value[i] = ++running[stream];
        inst.updates = {{isa::UpdateMode::SemInc, static_cast<uint8_t>(semaphore_of(stream)), 1}};
        ++updates;
      }
      inst.waits.clear();
      for (const bir::Dependency& dep : inst.dependencies) {
        const auto semaphore = static_cast<uint8_t>(semaphore_of(completion_stream(list[dep.predecessor])));
        const auto same = std::find_if(inst.waits.begin(), inst.waits.end(),
                                       [&](const isa::Wait& w) { return w.semaphore == semaphore; });
        if (same == inst.waits.end()) {
          inst.waits.push_back({isa::WaitMode::SemGeImm, semaphore, value[dep.predecessor]});
        } else {
          same->value = std::max(same->value, value[dep.predecessor]);
        }
      }
      waits += std::ssize(inst.waits);
    }
    ctx.count("semaphore_waits", waits);
    ctx.count("semaphore_increments", updates);
  }
};

}  // namespace

std::unique_ptr<Pass> make_alloc_semaphores() { return std::make_unique<AllocSemaphores>(); }

}  // namespace ncc::walrus
