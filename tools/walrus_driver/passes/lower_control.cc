// The end of the program: SP waits until every queue has finished all its transfers, engines that computed
// drain, and every stream ends with Exit. Counters are not reset: a program runs once from reset. Presumes
// alloc_semaphores. Source: spec/walrus.md §4.8; docs/decisions.md.
#include <array>

#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

using bir::Engine;
using bir::Opcode;

class LowerControl final : public Pass {
 public:
  Status run(bir::Module& module, PassContext&) override {
    for (bir::Function& fn : module.functions) {
      std::vector<int32_t> total(module.queues.size(), 0);
      std::array<bool, 8> computes{};
      int64_t last = 0;
      for (const bir::Instruction& inst : fn.block.instructions) {
        if (bir::is_dma(inst.opcode)) {
          total[inst.queue] += kTransferCount;
        } else {
          computes[static_cast<size_t>(inst.engine)] = true;
        }
        last = std::max(last, inst.scheduled_end);
      }
      const auto add = [&](const std::string& name, Opcode opcode, Engine engine) -> bir::Instruction& {
        bir::Instruction inst;
        inst.name = name;
        inst.opcode = opcode;
        inst.engine = engine;
        inst.scheduled_start = inst.scheduled_end = last;
        fn.block.instructions.push_back(std::move(inst));
        return fn.block.instructions.back();
      };
      bir::Instruction fence;
      for (size_t q = 0; q < total.size(); ++q)
        if (total[q] > 0)
          fence.waits.push_back({isa::WaitMode::SemGeImm,
                                 static_cast<uint8_t>(semaphore_of(kFirstQueueStream + static_cast<int>(q))),
                                 total[q]});
      if (!fence.waits.empty()) add("fence", Opcode::EventSemaphore, Engine::SP).waits = fence.waits;
      for (Engine engine : isa::kStreamEngines) {
        if (computes[static_cast<size_t>(engine)])
          add(fmt::format("drain_{}", isa::name(engine)), Opcode::Drain, engine);
        add(fmt::format("exit_{}", isa::name(engine)), Opcode::Exit, engine);
      }
    }
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_lower_control() { return std::make_unique<LowerControl>(); }

}  // namespace ncc::walrus
