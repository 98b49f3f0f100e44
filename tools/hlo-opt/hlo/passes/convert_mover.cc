// Data moves in the narrower of two types:
//   move(widening convert(x)) -> convert(move(x))
//   narrowing convert(move(x)) -> move(convert(x))
// for movements of one operand: reshape, transpose, broadcast, reverse, slice, and concatenate when all its
// operands are widened from one type. What is moved has no other user. Every element meets the same
// conversion, so no bit changes.
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_movement(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Reshape:
    case Opcode::Transpose:
    case Opcode::Broadcast:
    case Opcode::Reverse:
    case Opcode::Slice:
    case Opcode::Concatenate:
      return true;
    default:
      return false;
  }
}

bool changes_width(const Instruction* convert, bool widens) {
  if (!convert->is(Opcode::Convert) || !is_plain_array(convert) || !is_plain_array(convert->operand(0)))
    return false;
  const int from = info(convert->operand_shape(0).dtype).bits, to = info(convert->shape.dtype).bits;
  return widens ? from < to : from > to;
}

// Constants and splats are folded, not moved.
bool is_free(const Instruction* value) {
  return value->is(Opcode::Constant) || value->is(Opcode::Iota) || splat_of(value) != nullptr;
}

Instruction* move_convert(ComputationEditor& edit, Instruction* inst) {
  if (is_movement(*inst) && is_plain_array(inst)) {
    std::vector<Instruction*> sources;
    for (Instruction* operand : inst->operands) {
      if (!changes_width(operand, true) || !edit.has_one_use(operand) || is_free(operand->operand(0)) ||
          operand->operand_shape(0).dtype != inst->operand(0)->operand_shape(0).dtype)
        return nullptr;
      sources.push_back(operand->operand(0));
    }
    // A broadcast is made where it is used: widening before it is less work.
    if (inst->is(Opcode::Broadcast)) return nullptr;
    const Dtype narrow = sources[0]->shape.dtype;
    Instruction* moved = edit.clone(inst, std::move(sources));
    moved->shape = Shape::array(narrow, inst->shape.dims);
    return edit.convert(moved, inst->shape.dtype);
  }
  if (changes_width(inst, false)) {
    Instruction* movement = inst->operand(0);
    if (!is_movement(*movement) || movement->num_operands() != 1 || !edit.has_one_use(movement) ||
        !is_plain_array(movement) || is_free(movement))
      return nullptr;
    Instruction* moved = edit.clone(movement, {edit.convert(movement->operand(0), inst->shape.dtype)});
    moved->shape = Shape::array(inst->shape.dtype, inst->shape.dims);
    return moved;
  }
  return nullptr;
}

}  // namespace

Status convert_mover(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, move_convert);
}

}  // namespace ncc::hlo_passes
