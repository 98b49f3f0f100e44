// Calls, loops, branches, tuples, tokens. Source: spec/stablehlo-text.md §3.10.
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {

Result<Literal> eval_call(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  return evaluator.run(*inst.body(), std::move(operands));
}

Result<Literal> eval_tuple(Evaluator&, const Instruction&, Operands& operands) {
  return Literal::make_tuple(std::move(operands));
}

Result<Literal> eval_get_tuple_element(Evaluator&, const Instruction& inst, Operands& operands) {
  return operands[0].elements()[static_cast<size_t>(inst.index)];
}

Result<Literal> eval_while(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  Literal state = std::move(operands[0]);
  while (true) {
    NCC_ASSIGN(const Literal go_on, evaluator.run(*inst.while_condition(), {state}));
    if (go_on.as_int64(0) == 0) return state;
    std::vector<Literal> args;
    args.push_back(std::move(state));
    NCC_ASSIGN(state, evaluator.run(*inst.while_body(), std::move(args)));
  }
}

// A predicate chooses between {true, false}; an index outside the branches chooses the last one.
Result<Literal> eval_conditional(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const int64_t branches = static_cast<int64_t>(inst.called.size());
  int64_t chosen = operands[0].as_int64(0);
  if (operands[0].shape().dtype == Dtype::Pred) chosen = chosen != 0 ? 0 : 1;
  if (chosen < 0 || chosen >= branches) chosen = branches - 1;
  std::vector<Literal> args;
  if (static_cast<size_t>(chosen) + 1 < operands.size())
    args.push_back(std::move(operands[static_cast<size_t>(chosen) + 1]));
  return evaluator.run(*inst.called[static_cast<size_t>(chosen)], std::move(args));
}

Result<Literal> eval_token(Evaluator&, const Instruction&, Operands&) {
  return Literal::zeros(Shape::token());
}

// The start computes. HLO keeps (operands, result, contexts…) until the done takes the result; a StableHLO
// future is the result itself.
Result<Literal> eval_async_start(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  Literal given = Literal::make_tuple(operands);
  NCC_ASSIGN(Literal result, evaluator.run(*inst.body(), std::move(operands)));
  const std::vector<Shape>& parts = inst.shape.elements;
  const bool keeps_operands = parts.size() >= 2 && parts[0].is_tuple() &&
                              parts[0].elements.size() == given.elements().size() &&
                              compatible(parts[1], inst.body()->root()->shape);
  if (!keeps_operands) return result;
  std::vector<Literal> elements = {std::move(given), std::move(result)};
  for (size_t i = 2; i < parts.size(); ++i) elements.push_back(Literal::zeros(parts[i]));
  return Literal::make_tuple(std::move(elements));
}

Result<Literal> eval_async_done(Evaluator&, const Instruction& inst, Operands& operands) {
  if (compatible(inst.shape, inst.operand_shape(0))) return std::move(operands[0]);
  if (!operands[0].is_tuple() || operands[0].elements().size() < 2)
    return unsupported(inst, "its operand is no start tuple");
  return operands[0].elements()[1];
}

}  // namespace ncc::hlo
