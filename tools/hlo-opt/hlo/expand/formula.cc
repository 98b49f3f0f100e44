#include "tools/hlo-opt/hlo/expand/formula.h"

namespace ncc::hlo_passes {

Value Value::bits_as(Dtype dtype) const {
  if (dtype == inst_->shape.dtype) return *this;
  return {*edit_, edit_->add(Opcode::BitcastConvert, Shape::array(dtype, inst_->shape.dims), {inst_})};
}

Value unary(Opcode opcode, Value x) { return {x.edit(), x.edit().apply(opcode, {x.inst()})}; }

Value binary(Opcode opcode, Value a, Value b) {
  return {a.edit(), a.edit().apply(opcode, {a.inst(), b.inst()})};
}

Value compare(hlo::CompareDirection direction, Value a, Value b) {
  return {a.edit(), a.edit().compare(direction, a.inst(), b.inst())};
}

Value select(Value predicate, Value on_true, Value on_false) {
  return {on_true.edit(),
          on_true.edit().apply(Opcode::Select, {predicate.inst(), on_true.inst(), on_false.inst()})};
}

Dtype formula_type(Dtype dtype) { return is_float(dtype) && info(dtype).bits < 32 ? Dtype::F32 : dtype; }

namespace {

bool is_replaceable(const ComputationEditor& edit, const Instruction* inst) {
  return is_float(inst->operand_shape(0).dtype) && !inst->shape.quantization && !inst->shape.is_dynamic() &&
         !edit.is_pinned(inst);
}

Value widened(ComputationEditor& edit, Instruction* operand) {
  return Value(edit, operand).to(formula_type(operand->shape.dtype));
}

}  // namespace

bool replace_by(ComputationEditor& edit, Instruction* inst, const UnaryFormula& formula) {
  if (!is_replaceable(edit, inst)) return false;
  const Value result = formula(widened(edit, inst->operand(0)));
  return edit.replace(inst, result.to(inst->shape.dtype).inst());
}

bool replace_by(ComputationEditor& edit, Instruction* inst, const BinaryFormula& formula) {
  if (!is_replaceable(edit, inst)) return false;
  const Value result = formula(widened(edit, inst->operand(0)), widened(edit, inst->operand(1)));
  return edit.replace(inst, result.to(inst->shape.dtype).inst());
}

Status expand_each(hlo::Module& module, int64_t& changes, Opcode opcode, const UnaryFormula& formula) {
  return edit_each(module, changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (inst->is(opcode)) replace_by(edit, inst, formula);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
