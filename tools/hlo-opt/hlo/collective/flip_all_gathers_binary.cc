// One gather instead of two:
//   op(all-gather(a), all-gather(b)) -> all-gather(op(a, b))   elementwise, equal groups and dimension
// The gathers' only use. Source: spec/hlo-front-half.md §4.19 (98).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

void flip(ComputationEditor& edit, Instruction* inst) {
  if (inst->info().kind != hlo::OpKind::Binary || !inst->info().elementwise || !is_plain_array(inst) ||
      edit.has_control_edge(inst))
    return;
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  for (const Instruction* gather : {a, b})
    if (!is_simple_collective(edit, gather, Opcode::AllGather) || edit.use_count(gather) != (a == b ? 2 : 1))
      return;
  if (!same_groups(*a, *b) || a->dimensions != b->dimensions ||
      a->operand_shape(0).dims != b->operand_shape(0).dims)
    return;
  Instruction* piece = edit.clone(inst, {a->operand(0), b->operand(0)});
  piece->shape = Shape::array(inst->shape.dtype, a->operand_shape(0).dims);
  Instruction* gathered = collective_on(edit, a, piece, inst->shape);
  Instruction* collectives[] = {a, b};
  replace_user(edit, inst, gathered, std::span(collectives).first(a == b ? 1 : 2));
}

}  // namespace

Status flip_all_gathers_binary(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    flip(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
