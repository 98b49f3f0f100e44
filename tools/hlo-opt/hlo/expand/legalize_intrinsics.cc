// Activations and norms that frameworks write as custom-calls, as the mathematics they stand for, which the
// lowerings know and the recognisers tag:
//   AwsNeuronErf, AwsNeuronGelu, AwsNeuronGeluApprxTanh, AwsNeuronSilu of one operand
//   AwsNeuronRmsNorm(x, scale, epsilon); config = axis
// Source: spec/hlo-front-half.md §4.4 (5).
#include <cmath>
#include <numbers>

#include "tools/hlo-opt/hlo/expand/custom_call_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Value erf(Value x) { return unary(Opcode::Erf, x); }

Value gelu(Value x) { return x * (erf(x * (1 / std::numbers::sqrt2)) + 1) * 0.5; }

Value gelu_tanh(Value x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return x * (tanh((x + x * x * x * 0.044715) * scale) + 1) * 0.5;
}

Value silu(Value x) { return x * unary(Opcode::Logistic, x); }

struct Activation {
  std::string_view target;
  Value (*function)(Value);
};
constexpr Activation kActivations[] = {{"AwsNeuronErf", erf},
                                       {"AwsNeuronGelu", gelu},
                                       {"AwsNeuronGeluApprxTanh", gelu_tanh},
                                       {"AwsNeuronSilu", silu}};

Instruction* open_activation(ComputationEditor& edit, Instruction* inst) {
  for (const Activation& row : kActivations) {
    if (!calls(*inst, row.target) || inst->num_operands() != 1 || !is_plain_array(inst) ||
        !is_float(inst->shape.dtype) || !compatible(inst->operand_shape(0), inst->shape))
      continue;
    const Value x = Value(edit, inst->operand(0)).to(formula_type(inst->shape.dtype));
    return row.function(x).to(inst->shape.dtype).inst();
  }
  return nullptr;
}

Instruction* open_rms_norm(ComputationEditor& edit, Instruction* inst) {
  if (!calls(*inst, "AwsNeuronRmsNorm") || inst->num_operands() != 3 || !is_plain_array(inst) ||
      !is_float(inst->shape.dtype) || inst->shape.rank() == 0 || inst->shape.num_elements() == 0 ||
      !compatible(inst->operand_shape(0), inst->shape))
    return nullptr;
  const auto axis = config_axis(*inst);
  if (!axis) return nullptr;
  const int64_t size = inst->shape.dims[static_cast<size_t>(*axis)];
  for (int64_t i : {1, 2})
    if (!is_plain_array(inst->operand(i)) || !is_float(inst->operand_shape(i).dtype) ||
        inst->operand_shape(i).num_elements() != (i == 1 ? size : 1))
      return nullptr;
  const Dtype type = formula_type(inst->shape.dtype);
  const auto spread = [&](int64_t i, Dims sizes, Dims dimensions) {
    Instruction* value = edit.convert(edit.reshape(inst->operand(i), std::move(sizes)), type);
    return Value(edit, edit.broadcast(value, inst->shape.dims, std::move(dimensions)));
  };
  const Value x = Value(edit, inst->operand(0)).to(type);
  const Value mean = folded_along(x * x, *axis, Opcode::Add, 0) / static_cast<double>(size);
  const Value norm = x / sqrt(mean + spread(2, {}, {})) * spread(1, {size}, {*axis});
  return norm.to(inst->shape.dtype).inst();
}

}  // namespace

Status legalize_intrinsics(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    Instruction* value = open_activation(edit, inst);
    return value ? value : open_rms_norm(edit, inst);
  });
}

}  // namespace ncc::hlo_passes
