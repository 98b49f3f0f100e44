// Tuples that are built only to be taken apart:
//   get-tuple-element(tuple(a, b), 1)                                     -> b
//   tuple(get-tuple-element(t, 0), …, get-tuple-element(t, n-1)), n = |t| -> t
// Source: spec/hlo-front-half.md §2.2 (1).
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The tuple whose elements, all and in order, these are; or nullptr.
Instruction* whole_tuple(const Instruction& tuple) {
  if (tuple.operands.empty() || !tuple.operand(0)->is(Opcode::GetTupleElement)) return nullptr;
  Instruction* source = tuple.operand(0)->operand(0);
  if (!compatible(source->shape, tuple.shape)) return nullptr;
  for (int64_t i = 0; i < tuple.num_operands(); ++i) {
    const Instruction* element = tuple.operand(i);
    if (!element->is(Opcode::GetTupleElement) || element->operand(0) != source || element->index != i)
      return nullptr;
  }
  return source;
}

}  // namespace

Status tuple_simplifier(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (inst->is(Opcode::GetTupleElement) && inst->operand(0)->is(Opcode::Tuple)) {
      edit.replace(inst, inst->operand(0)->operand(inst->index));
    } else if (inst->is(Opcode::Tuple)) {
      if (Instruction* source = whole_tuple(*inst)) edit.replace(inst, source);
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
