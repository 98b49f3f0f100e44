// A truth value that went through a number and back:
//   compare(convert(p), 0) NE, compare(convert(p), 1) EQ -> p
//   compare(convert(p), 0) EQ, compare(convert(p), 1) NE -> not(p)
//   convert(convert(p) to a number) to pred              -> p
// Source: spec/hlo-front-half.md §4.12 (17).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The pred that the number is 1 or 0 for; nullptr when it is none.
Instruction* truth_of(const Instruction* number) {
  return number->is(Opcode::Convert) && is_pred(number->operand(0)) && !is_complex(number->shape.dtype)
             ? number->operand(0)
             : nullptr;
}

Instruction* eliminate(ComputationEditor& edit, Instruction* inst) {
  if (inst->is(Opcode::Convert) && is_pred(inst)) return truth_of(inst->operand(0));
  if (!inst->is(Opcode::Compare)) return nullptr;
  const bool is_equal = inst->direction == hlo::CompareDirection::EQ;
  if (!is_equal && inst->direction != hlo::CompareDirection::NE) return nullptr;
  for (int64_t i : {0, 1}) {
    Instruction* truth = truth_of(inst->operand(i));
    const Instruction* other = inst->operand(1 - i);
    if (!truth) continue;
    if (is_splat(other, 1)) return is_equal ? truth : edit.apply(Opcode::Not, {truth});
    if (is_splat(other, 0)) return is_equal ? edit.apply(Opcode::Not, {truth}) : truth;
  }
  return nullptr;
}

}  // namespace

Status eliminate_redundant_compare(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, eliminate);
}

}  // namespace ncc::hlo_passes
