// compare(x, x) of integers or truth values is a constant. Floats stay: a NaN is not equal to itself. Source:
// spec/hlo-front-half.md §4.12 (67).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* resolve(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Compare) || inst->operand(0) != inst->operand(1) || !is_plain_array(inst) ||
      !(is_int(inst->operand(0)) || is_pred(inst->operand(0))))
    return nullptr;
  const bool holds = inst->direction == hlo::CompareDirection::EQ ||
                     inst->direction == hlo::CompareDirection::GE ||
                     inst->direction == hlo::CompareDirection::LE;
  return edit.broadcast_scalar(edit.constant(Literal::scalar_int(Dtype::Pred, holds)), inst->shape.dims);
}

}  // namespace

Status resolve_self_comparison(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, resolve);
}

}  // namespace ncc::hlo_passes
