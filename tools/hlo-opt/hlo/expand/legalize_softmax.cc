// AwsNeuronSoftmax(x), AwsNeuronSoftmaxBackward(y, dy), config = axis, as the mathematics they stand for,
// which the recogniser tags. Source: spec/hlo-front-half.md §4.1 (7).
#include <limits>

#include "tools/hlo-opt/hlo/expand/custom_call_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* open_softmax(ComputationEditor& edit, Instruction* inst) {
  const bool forward = calls(*inst, "AwsNeuronSoftmax");
  if ((!forward && !calls(*inst, "AwsNeuronSoftmaxBackward")) || !is_plain_array(inst) ||
      !is_float(inst->shape.dtype) || inst->num_operands() != (forward ? 1 : 2) || inst->shape.rank() == 0)
    return nullptr;
  const auto axis = config_axis(*inst);
  for (const Instruction* operand : inst->operands)
    if (!axis || !compatible(operand->shape, inst->shape)) return nullptr;
  const Dtype type = formula_type(inst->shape.dtype);
  const Value x = Value(edit, inst->operand(0)).to(type);
  if (forward) {
    const double lowest = -std::numeric_limits<double>::infinity();
    const Value e = exp(x - folded_along(x, *axis, Opcode::Maximum, lowest));
    return (e / folded_along(e, *axis, Opcode::Add, 0)).to(inst->shape.dtype).inst();
  }
  const Value dy = Value(edit, inst->operand(1)).to(type);
  return (x * (dy - folded_along(dy * x, *axis, Opcode::Add, 0))).to(inst->shape.dtype).inst();
}

}  // namespace

Status legalize_softmax(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_softmax);
}

}  // namespace ncc::hlo_passes
