// An elementwise op on values that are all broadcast in the same way computes the same element many times:
//   op(broadcast(a), broadcast(b), splat) -> broadcast(op(a, b, splat))
// The broadcasts map equal operand sizes to equal result dimensions; at least one is no splat
// (constant_folding has those). Every element is the same function of the same numbers, so no bit changes.
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_scalar_broadcast(const Instruction* value) {
  return value->is(Opcode::Broadcast) && value->operand(0)->shape.is_scalar();
}

Instruction* move_broadcast(ComputationEditor& edit, Instruction* inst) {
  if (!inst->info().elementwise || inst->is(Opcode::Map) || !is_plain_array(inst) || inst->operands.empty())
    return nullptr;
  const Instruction* leader = nullptr;
  for (const Instruction* operand : inst->operands) {
    if (!operand->is(Opcode::Broadcast) || !is_plain_array(operand) || !is_plain_array(operand->operand(0)) ||
        operand->shape.dims != inst->shape.dims)
      return nullptr;
    if (is_scalar_broadcast(operand)) continue;
    if (leader && (leader->dimensions != operand->dimensions ||
                   leader->operand_shape(0).dims != operand->operand_shape(0).dims))
      return nullptr;
    leader = operand;
  }
  if (!leader) {
    // All scalars, at least one of them not a constant.
    leader = inst->operand(0);
  }
  const Dims small = leader->operand_shape(0).dims;
  std::vector<Instruction*> operands;
  for (const Instruction* operand : inst->operands)
    operands.push_back(is_scalar_broadcast(operand) ? edit.broadcast_scalar(operand->operand(0), small)
                                                    : operand->operand(0));
  Instruction* computed = edit.clone(inst, std::move(operands));
  computed->shape = Shape::array(inst->shape.dtype, small);
  return edit.broadcast(computed, inst->shape.dims, leader->dimensions);
}

}  // namespace

Status broadcast_mover(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, move_broadcast);
}

}  // namespace ncc::hlo_passes
