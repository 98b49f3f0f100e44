// Replaces calls by the instructions that they call, innermost first. Composites stay: their name says what
// they compute, and recognition may use it. A call of another execution thread stays too. Inlining can be
// exponential in the depth of shared calls: past the limit below calls stay calls. Source:
// spec/hlo-front-half.md §2.2 (2).
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMaxInlined = int64_t{1} << 20;  // instructions added to one module

bool is_inlinable(const ComputationEditor& edit, const Instruction& inst) {
  return inst.is(Opcode::Call) && !inst.attrs().is_composite && !edit.has_control_edge(&inst) &&
         inst.body()->execution_thread == edit.computation()->execution_thread;
}

}  // namespace

Status call_inliner(hlo::Module& module, PassContext& context) {
  int64_t budget = kMaxInlined;
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!is_inlinable(edit, *inst) || budget < inst->body()->size()) continue;
      budget -= inst->body()->size();
      edit.set_location(inst->loc);
      Instruction* value = edit.inline_computation(*inst->body(), inst->operands);
      edit.replace(inst, value);
      edit.erase(inst);
      ++context.changes;
    }
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
