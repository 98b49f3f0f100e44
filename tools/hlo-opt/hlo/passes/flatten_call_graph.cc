// Gives every while, conditional and call computations of its own, so that later passes may specialise them
// for their one caller. Sharing can be exponential in the depth of the calls: once the copies outgrow the
// module several times over, what is left stays shared. Bodies of reductions and the like stay shared always.
// Source: spec/hlo-front-half.md §2.3 (stock FlattenCallGraph).
#include <unordered_set>

#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kGrowth = 4, kAllowance = 4096;  // copies up to 4 modules and some instructions

bool is_control_flow(const hlo::Instruction& inst) {
  return inst.is(hlo::Opcode::While) || inst.is(hlo::Opcode::Conditional) || inst.is(hlo::Opcode::Call);
}

}  // namespace

Status flatten_call_graph(hlo::Module& module, PassContext& context) {
  int64_t budget = kAllowance;
  for (const auto& computation : module.computations()) budget += kGrowth * computation->size();
  // Callers first; copies join the list when they are made.
  std::vector<hlo::Computation*> order = module.post_order();
  std::vector<hlo::Computation*> work(order.rbegin(), order.rend());
  std::unordered_set<const hlo::Computation*> owned{module.entry()};
  for (size_t next = 0; next < work.size(); ++next) {
    for (const auto& inst : work[next]->instructions()) {
      if (!is_control_flow(*inst)) continue;
      for (hlo::Computation*& called : inst->called) {
        if (owned.insert(called).second || budget < called->size()) continue;
        budget -= called->size();
        called = clone_computation(*called);
        owned.insert(called);
        work.push_back(called);
        ++context.changes;
      }
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
