// A value without elements needs no computation: it becomes an empty constant. Parameters, effects and what
// is dynamic stay. Source: spec/hlo-front-half.md §2.3 (stock ZeroSizedHloElimination).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status zero_sized_hlo_elimination(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!is_plain_array(inst) || inst->shape.num_elements() != 0 || inst->is(Opcode::Constant) ||
        edit.is_pinned(inst) || inst->is(Opcode::CustomCall))
      return Status::ok();
    edit.replace(inst, edit.constant(Literal::zeros(inst->shape)));
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
