#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

// Operands from `first` on are the callee's parameters.
Status check_arguments(const Instruction& inst, const Computation& callee, const std::vector<Shape>& given,
                       std::string_view label) {
  const std::vector<Instruction*> parameters = callee.parameters();
  if (parameters.size() != given.size())
    return mismatch(inst, label, fmt::format("parameters of {}", callee.name()), parameters.size(),
                    given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!compatible(parameters[i]->shape, given[i]))
      return mismatch(inst, label, fmt::format("parameter {} of {}", i, callee.name()),
                      to_string(parameters[i]->shape), to_string(given[i]));
  }
  return Status::ok();
}

Result<Shape> infer_while(const Instruction& inst) {
  const Shape& state = inst.operand_shape(0);
  NCC_TRY(check_arguments(inst, *inst.while_condition(), {state}, "while_c1"));
  NCC_TRY(check_arguments(inst, *inst.while_body(), {state}, "while_c2"));
  const Shape& next = inst.while_body()->root()->shape;
  if (!compatible(next, state))
    return mismatch(inst, "while_c2", "result of the body", to_string(next), to_string(state));
  const Shape& condition = inst.while_condition()->root()->shape;
  if (!compatible(condition, Shape::array(Dtype::Pred)))
    return mismatch(inst, "while_c1", "result of the condition", to_string(condition), "pred[]");
  return state;
}

Result<Shape> infer_conditional(const Instruction& inst) {
  const Shape& index = inst.operand_shape(0);
  const bool pred = compatible(index, Shape::array(Dtype::Pred));
  if (!pred && !compatible(index, Shape::array(Dtype::S32)))
    return mismatch(inst, "case_c1", "index", to_string(index), "pred[] or s32[]");
  if (pred && inst.called.size() != 2) return mismatch(inst, "if_c1", "branches", inst.called.size(), 2);
  if (inst.called.empty() || static_cast<int64_t>(inst.called.size()) + 1 != inst.num_operands())
    return mismatch(inst, "case_c1", "branches", inst.called.size(),
                    fmt::format("as many as the {} branch operands", inst.num_operands() - 1));
  for (size_t i = 0; i < inst.called.size(); ++i) {
    NCC_TRY(check_arguments(inst, *inst.called[i], {inst.operands[i + 1]->shape}, "case_c2"));
    const Shape& result = inst.called[i]->root()->shape;
    if (!compatible(result, inst.called[0]->root()->shape))
      return mismatch(inst, "case_c3", fmt::format("result of branch {}", i), to_string(result),
                      to_string(inst.called[0]->root()->shape));
  }
  return inst.called[0]->root()->shape;
}

Result<Shape> infer_tuple(const Instruction& inst) {
  if (inst.is(Opcode::Tuple)) return Shape::make_tuple(operand_shapes(inst));
  const Shape& tuple = inst.operand_shape(0);
  if (!tuple.is_tuple() || inst.index < 0 || inst.index >= static_cast<int64_t>(tuple.elements.size()))
    return mismatch(inst, "get_tuple_element_c1", "index", inst.index,
                    fmt::format("an element of {}", to_string(tuple)));
  return tuple.elements[static_cast<size_t>(inst.index)];
}

}  // namespace

Result<Shape> infer_control(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Call:
    case Opcode::Fusion:
      NCC_TRY(check_arguments(inst, *inst.body(), operand_shapes(inst),
                              inst.attrs().is_composite ? "composite_c3" : "call_c1"));
      return inst.body()->root()->shape;
    case Opcode::While:
      return infer_while(inst);
    case Opcode::Conditional:
      return infer_conditional(inst);
    case Opcode::Tuple:
    case Opcode::GetTupleElement:
      return infer_tuple(inst);
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
