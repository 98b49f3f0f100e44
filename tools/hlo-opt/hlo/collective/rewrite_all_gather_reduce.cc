// Reducing what was gathered is an all-reduce of the reduced pieces:
//   reduce(all-gather(x, d), init, dims with d) -> all-reduce(reduce(x, init, dims))
// for bodies whose result does not depend on order, when init does no harm in every piece: it is neutral, or
// the op takes it once or often with the same result (max, min, and, or). The gather's only use. Source:
// spec/hlo-front-half.md §4.19 (95).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool may_repeat(Opcode op, const Instruction* initial) {
  switch (op) {
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::And:
    case Opcode::Or:
      return true;
    case Opcode::Add:
    case Opcode::Xor:
      return !is_pred(initial) && is_splat(initial, 0);
    case Opcode::Multiply:
      return !is_pred(initial) && is_splat(initial, 1);
    default:
      return false;
  }
}

void rewrite(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Reduce) || inst->num_operands() != 2 || !is_plain_array(inst) ||
      edit.has_control_edge(inst))
    return;
  Instruction* gather = inst->operand(0);
  if (!is_simple_collective(edit, gather, Opcode::AllGather) || !edit.has_one_use(gather) ||
      gather->shape.dtype != inst->shape.dtype)
    return;
  const auto op = binary_body(*inst->body());
  const Dims& reduced = inst->dimensions;
  if (!op || inst->body()->root()->shape.dtype != inst->shape.dtype ||
      !is_order_free(*op, inst->shape.dtype) || !may_repeat(*op, inst->operand(1)) ||
      std::find(reduced.begin(), reduced.end(), gather->dimensions[0]) == reduced.end() ||
      !process_groups(*gather))
    return;
  Instruction* piece = edit.clone(inst, {gather->operand(0), inst->operand(1)});
  Instruction* whole = edit.add(Opcode::AllReduce, inst->shape, {piece});
  whole->called = {inst->body()};
  hlo::Attributes& attrs = whole->mutable_attrs();
  attrs = gather->attrs();
  attrs.constrain_layout = false;
  Instruction* collectives[] = {gather};
  replace_user(edit, inst, whole, collectives);
}

}  // namespace

Status rewrite_all_gather_reduce(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    rewrite(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
