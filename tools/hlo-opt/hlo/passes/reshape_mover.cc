// Reshapes and transposes behind elementwise ops, where that leaves fewer of them:
//   op(reshape(a), reshape(b), splat)     -> reshape(op(a, b, splat))
//   op(transpose(a), transpose(b), splat) -> transpose(op(a, b, splat))
// All movements start from equal sizes (and permute alike), each has no other user, and there are at least
// two, or one that meets another movement of its kind behind the op. Source: spec/hlo-front-half.md §8.
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool moves_alike(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.operand_shape(0).dims == b.operand_shape(0).dims &&
         (a.is(Opcode::Reshape) || a.dimensions == b.dimensions);
}

bool is_movement(const Instruction* value) {
  return (value->is(Opcode::Reshape) || value->is(Opcode::Transpose)) && is_plain_array(value->operand(0));
}

// The only user undoes or joins the movement.
bool meets_movement(ComputationEditor& edit, const Instruction* inst, Opcode movement) {
  const std::vector<Instruction*> users = edit.users(inst);
  return users.size() == 1 && edit.has_one_use(inst) && users[0]->is(movement);
}

Instruction* move_movement(ComputationEditor& edit, Instruction* inst) {
  if (!inst->info().elementwise || inst->is(Opcode::Map) || !is_plain_array(inst)) return nullptr;
  const Instruction* leader = nullptr;
  int64_t count = 0;
  for (const Instruction* operand : inst->operands) {
    const bool is_splat = operand->is(Opcode::Broadcast) && operand->operand(0)->shape.is_scalar();
    if (is_splat) continue;
    if (!is_movement(operand) || !edit.has_one_use(operand) || operand->shape.dims != inst->shape.dims)
      return nullptr;
    if (leader && !moves_alike(*leader, *operand)) return nullptr;
    leader = operand;
    ++count;
  }
  if (!leader || (count < 2 && !meets_movement(edit, inst, leader->opcode))) return nullptr;
  const Dims source = leader->operand_shape(0).dims;
  std::vector<Instruction*> operands;
  for (Instruction* operand : inst->operands)
    operands.push_back(operand->is(Opcode::Broadcast) ? edit.broadcast_scalar(operand->operand(0), source)
                                                      : operand->operand(0));
  const Opcode movement = leader->opcode;
  const Dims permutation = leader->dimensions;
  Instruction* computed = edit.clone(inst, std::move(operands));
  computed->shape = Shape::array(inst->shape.dtype, source);
  return movement == Opcode::Reshape ? edit.reshape(computed, inst->shape.dims)
                                     : edit.transpose(computed, permutation);
}

}  // namespace

Status reshape_mover(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, move_movement);
}

}  // namespace ncc::hlo_passes
