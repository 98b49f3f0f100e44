// An optimisation barrier hands its operand on: later passes may look through it. Source:
// spec/hlo-front-half.md §2.2 (29), §3 (8).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status opt_barrier_removal(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor&, Instruction* inst) {
    return inst->is(Opcode::OptBarrier) ? inst->operand(0) : static_cast<Instruction*>(nullptr);
  });
}

}  // namespace ncc::hlo_passes
