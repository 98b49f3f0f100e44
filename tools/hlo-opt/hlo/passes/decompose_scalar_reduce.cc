// A reduction of a whole integer matrix in two steps, so that the first has 128 rows to work on:
//   reduce(x, both dimensions) -> reduce(opt-barrier(reduce(reshape(x, {128, N/128}), 1)), 0)
// max, min, and, or with any initial value, multiply and xor with their neutral one; N a multiple of 128. The
// barrier keeps the steps apart. Source: spec/hlo-front-half.md §4.15 (74).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kRows = 128;

bool takes_initial_twice(Opcode op, const Instruction* initial) {
  switch (op) {
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::And:
    case Opcode::Or:
      return true;
    case Opcode::Multiply:
      return is_splat(initial, 1);
    case Opcode::Xor:
      return is_splat(initial, 0);
    default:
      return false;
  }
}

Instruction* decompose(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Reduce) || inst->num_operands() != 2 || !is_plain_array(inst) ||
      !inst->shape.is_scalar() || !is_int(inst))
    return nullptr;
  Instruction *x = inst->operand(0), *initial = inst->operand(1);
  const int64_t count = x->shape.num_elements();
  const auto op = binary_body(*inst->body());
  if (x->shape.rank() != 2 || count == 0 || count % kRows != 0 || !op ||
      x->shape.dtype != inst->shape.dtype || inst->body()->root()->shape.dtype != inst->shape.dtype ||
      !takes_initial_twice(*op, initial) || x->is(Opcode::OptBarrier))
    return nullptr;
  const auto reduce = [&](Instruction* value, int64_t dimension) {
    return edit.reduce({value}, {initial}, {dimension}, inst->body());
  };
  Instruction* rows = reduce(edit.reshape(x, {kRows, count / kRows}), 1);
  return reduce(edit.add(Opcode::OptBarrier, rows->shape, {rows}), 0);
}

}  // namespace

Status decompose_scalar_reduce(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, decompose);
}

}  // namespace ncc::hlo_passes
