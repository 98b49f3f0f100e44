// Collectives on one device: a group of one gives its own operand back. Source: spec/stablehlo-text.md §3.10.
#include <algorithm>

#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

Status require_one_device(const Instruction& inst) {
  const Module* module = inst.parent ? inst.parent->module() : nullptr;
  const bool one = !module || module->replica_count * module->num_partitions <= 1;
  const auto& groups = inst.attrs().replica_groups;
  if (one && std::all_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() <= 1; }))
    return Status::ok();
  return unsupported(inst, "the program runs on several devices");
}

Literal as_type_of(const Literal& value, const Shape& shape) { return converted(value, shape.dtype); }

}  // namespace

// One result per operand, converted to the result type where the reduction promotes.
Result<Literal> eval_collective(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_one_device(inst));
  if (!inst.shape.is_tuple()) return as_type_of(operands[0], inst.shape);
  std::vector<Literal> results;
  for (size_t i = 0; i < inst.shape.elements.size() && i < operands.size(); ++i)
    results.push_back(as_type_of(operands[i], inst.shape.elements[i]));
  return Literal::make_tuple(std::move(results));
}

// The operand when device 0 sends to itself, else zeros.
Result<Literal> eval_collective_permute(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_one_device(inst));
  const auto& pairs = inst.attrs().source_target_pairs;
  const bool to_self =
      std::find(pairs.begin(), pairs.end(), std::pair<int64_t, int64_t>{0, 0}) != pairs.end();
  return to_self ? operands[0] : Literal::zeros(operands[0].shape());
}

// (copy, source, context): the first element is the result.
Result<Literal> eval_copy_start(Evaluator&, const Instruction&, Operands& operands) {
  return Literal::make_tuple({operands[0], operands[0], Literal::scalar_int(Dtype::U32, 0)});
}

// (operand, result, contexts…)
Result<Literal> eval_pair_start(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  if (!inst.shape.is_tuple() || inst.shape.elements.size() < 2 || operands.size() != 1)
    return unsupported(inst, "only the form with one operand is evaluated");
  Literal operand = operands[0];
  Literal result = operand;
  if (inst.is(Opcode::CollectivePermuteStart)) {
    NCC_ASSIGN(result, eval_collective_permute(evaluator, inst, operands));
  } else {
    NCC_TRY(require_one_device(inst));
  }
  std::vector<Literal> elements = {std::move(operand), std::move(result)};
  for (size_t i = 2; i < inst.shape.elements.size(); ++i)
    elements.push_back(Literal::zeros(inst.shape.elements[i]));
  return Literal::make_tuple(std::move(elements));
}

Result<Literal> eval_done(Evaluator&, const Instruction& inst, Operands& operands) {
  if (!operands[0].is_tuple() || operands[0].elements().size() < 2)
    return unsupported(inst, "its operand is no start tuple");
  return operands[0].elements()[inst.is(Opcode::CopyDone) ? 0 : 1];
}

}  // namespace ncc::hlo
