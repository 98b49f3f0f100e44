// Inserts LoadActFuncSet before the activations that need another table set. The order is given, so the
// fewest switches come from the longest runs: a run goes on while one set holds all its functions. A load
// stands directly before the activation that needs it and carries no waits, so it runs while that activation
// still waits for its data. Presumes the final order. Source: spec/walrus.md §4.8, spec/simulator-numerics.md
// §6.5.
#include <bit>

#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/schedule.h"

namespace ncc::walrus {
namespace {

using bir::Opcode;

class LowerAct final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) ctx.count("act_table_loads", insert(fn));
    return Status::ok();
  }

 private:
  static int64_t insert(bir::Function& fn) {
    std::vector<bir::Instruction>& list = fn.block.instructions;
    std::vector<std::pair<size_t, uint64_t>> runs;  // first instruction, sets that hold the whole run
    for (size_t i = 0; i < list.size(); ++i) {
      const uint64_t sets = table_sets_for(list[i]);
      if (sets == 0) continue;
      if (runs.empty() || (runs.back().second & sets) == 0) {
        runs.push_back({i, sets});
      } else {
        runs.back().second &= sets;
      }
    }
    if (runs.empty()) return 0;
    std::vector<bir::Instruction> out;
    out.reserve(list.size() + runs.size());
    size_t next = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (next < runs.size() && runs[next].first == i) {
        bir::Instruction load;
        load.name = fmt::format("act_table_load.{}", next);
        load.opcode = Opcode::LoadActFuncSet;
        load.engine = bir::Engine::Activation;
        load.source = list[i].source;
        load.mutable_attrs().table_set = static_cast<uint8_t>(std::countr_zero(runs[next].second));
        load.scheduled_start = load.scheduled_end = list[i].scheduled_start;
        out.push_back(std::move(load));
        ++next;
      }
      out.push_back(std::move(list[i]));
    }
    for (bir::Instruction& inst : out) inst.dependencies.clear();
    list = std::move(out);
    return static_cast<int64_t>(runs.size());
  }
};

}  // namespace

std::unique_ptr<Pass> make_lower_act() { return std::make_unique<LowerAct>(); }

}  // namespace ncc::walrus
