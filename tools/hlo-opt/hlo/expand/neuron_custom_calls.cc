// Custom-calls that frameworks write for the reference compiler, as the mathematics they stand for, which the
// lowerings know and the recognisers tag:
//   legalize-intrinsics (5)           AwsNeuronErf, AwsNeuronGelu, AwsNeuronGeluApprxTanh, AwsNeuronSilu of
//   one operand legalize-softmax (7)              AwsNeuronSoftmax(x), AwsNeuronSoftmaxBackward(y, dy);
//   config = axis legalize-topk (8)                 AwsNeuronTopK, TopK; config = k, or k from the shape
//   lower-argminmax-custom-call (19)  AwsNeuronArgMax, AwsNeuronArgMin; config = axis; ties: the first index
// A call with another number of operands, or a config that is no number in range, stays; the lowering then
// names it. Source: spec/hlo-front-half.md §4.1-§4.4.
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool calls(const Instruction& inst, std::string_view target) {
  return inst.is(Opcode::CustomCall) && inst.attrs().custom_call_target == target && !inst.has_side_effect();
}

// A bare decimal below `limit`.
std::optional<int64_t> number_of(const Instruction& inst, int64_t limit) {
  const std::string& text = inst.attrs().backend_config;
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 0 || value >= limit)
    return std::nullopt;
  return value;
}

// The axis of a normalisation: counted from the end when negative, the last one when not given.
std::optional<int64_t> axis_of(const Instruction& inst) {
  const std::string& text = inst.attrs().backend_config;
  const int64_t rank = inst.operand_shape(0).rank();
  int64_t axis = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), axis);
  if (!text.empty() && (failed != std::errc() || end != text.data() + text.size())) return std::nullopt;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return axis;
}

// --- activations ---

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

// --- softmax ---

Value reduced(Value x, int64_t axis, Opcode op, double initial) {
  ComputationEditor& edit = x.edit();
  Instruction* sum = edit.reduce(x.inst(), edit.scalar(x.dtype(), initial), {axis}, op);
  Dims kept;
  for (int64_t d = 0; d < x.shape().rank(); ++d)
    if (d != axis) kept.push_back(d);
  return {edit, edit.broadcast(sum, x.shape().dims, std::move(kept))};
}

Instruction* open_softmax(ComputationEditor& edit, Instruction* inst) {
  const bool forward = calls(*inst, "AwsNeuronSoftmax");
  if ((!forward && !calls(*inst, "AwsNeuronSoftmaxBackward")) || !is_plain_array(inst) ||
      !is_float(inst->shape.dtype) || inst->num_operands() != (forward ? 1 : 2) || inst->shape.rank() == 0)
    return nullptr;
  const auto axis = axis_of(*inst);
  for (const Instruction* operand : inst->operands)
    if (!axis || !compatible(operand->shape, inst->shape)) return nullptr;
  const Dtype type = formula_type(inst->shape.dtype);
  const Value x = Value(edit, inst->operand(0)).to(type);
  if (forward) {
    const double lowest = -std::numeric_limits<double>::infinity();
    const Value e = exp(x - reduced(x, *axis, Opcode::Maximum, lowest));
    return (e / reduced(e, *axis, Opcode::Add, 0)).to(inst->shape.dtype).inst();
  }
  const Value dy = Value(edit, inst->operand(1)).to(type);
  return (x * (dy - reduced(dy * x, *axis, Opcode::Add, 0))).to(inst->shape.dtype).inst();
}

Instruction* open_rms_norm(ComputationEditor& edit, Instruction* inst) {
  if (!calls(*inst, "AwsNeuronRmsNorm") || inst->num_operands() != 3 || !is_plain_array(inst) ||
      !is_float(inst->shape.dtype) || inst->shape.rank() == 0 || inst->shape.num_elements() == 0 ||
      !compatible(inst->operand_shape(0), inst->shape))
    return nullptr;
  const auto axis = axis_of(*inst);
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
  const Value mean = reduced(x * x, *axis, Opcode::Add, 0) / static_cast<double>(size);
  const Value norm = x / sqrt(mean + spread(2, {}, {})) * spread(1, {size}, {*axis});
  return norm.to(inst->shape.dtype).inst();
}

// --- top k ---

Instruction* open_topk(ComputationEditor& edit, Instruction* inst) {
  if ((!calls(*inst, "AwsNeuronTopK") && !calls(*inst, "TopK")) || inst->num_operands() != 1 ||
      !inst->shape.is_tuple() || inst->shape.elements.size() != 2 || inst->shape.is_dynamic())
    return nullptr;
  Instruction* x = inst->operand(0);
  const Shape &values = inst->shape.elements[0], &indices = inst->shape.elements[1];
  if (!is_plain_array(x) || x->shape.rank() == 0 || !is_float(x->shape.dtype) ||
      values.dtype != x->shape.dtype || values.dims.size() != x->shape.dims.size() ||
      indices.dims != values.dims || !is_integer(indices.dtype))
    return nullptr;
  const int64_t k = values.dims.back();
  Dims expected = x->shape.dims;
  expected.back() = k;
  if (values.dims != expected || k > x->shape.dims.back() ||
      (!inst->attrs().backend_config.empty() && number_of(*inst, INT32_MAX) != k))
    return nullptr;
  Instruction* top =
      edit.add(Opcode::TopK, Shape::make_tuple({values, Shape::array(Dtype::S32, indices.dims)}), {x});
  top->mutable_attrs().k = k;
  return edit.tuple({edit.element(top, 0), edit.convert(edit.element(top, 1), indices.dtype)});
}

// --- arg max ---

// What every value of the type is at least (at most) as large as.
Literal neutral_extreme(Dtype dtype, bool is_max) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) return Literal::scalar(dtype, is_max ? -kInfinity : kInfinity);
  const int bits = info(dtype).bits;
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t most = is_signed_int(dtype) ? ones >> 1 : ones;
  const int64_t least = is_signed_int(dtype) ? -static_cast<int64_t>(most) - 1 : 0;
  return Literal::scalar_int(dtype, is_max ? least : static_cast<int64_t>(most));
}

Instruction* open_arg_extreme(ComputationEditor& edit, Instruction* inst) {
  const bool is_max = calls(*inst, "AwsNeuronArgMax");
  const bool is_pair = inst->shape.is_tuple() && inst->shape.elements.size() == 2;
  if ((!is_max && !calls(*inst, "AwsNeuronArgMin")) || inst->num_operands() != 1 ||
      (!is_pair && !inst->shape.is_array()) || inst->shape.is_dynamic() || !is_plain_array(inst->operand(0)))
    return nullptr;
  Instruction* x = inst->operand(0);
  const auto axis = number_of(*inst, x->shape.rank());
  if (!axis || (!is_float(x->shape.dtype) && !is_integer(x->shape.dtype)) || x->shape.num_elements() == 0)
    return nullptr;
  const int64_t size = x->shape.dims[static_cast<size_t>(*axis)];
  const int64_t count = x->shape.num_elements() / size;
  const Shape& indices = is_pair ? inst->shape.elements[1] : inst->shape;
  const Shape& values = is_pair ? inst->shape.elements[0] : x->shape;
  if (size > INT32_MAX || values.dtype != x->shape.dtype || (is_pair && values.num_elements() != count) ||
      indices.num_elements() != count || !is_integer(indices.dtype))
    return nullptr;
  Dims kept;
  for (int64_t d = 0; d < x->shape.rank(); ++d)
    if (d != *axis) kept.push_back(d);
  Instruction* extreme = edit.reduce(x, edit.constant(neutral_extreme(x->shape.dtype, is_max)), {*axis},
                                     is_max ? Opcode::Maximum : Opcode::Minimum);
  Value there = equal(Value(edit, x), Value(edit, edit.broadcast(extreme, x->shape.dims, kept)));
  // A NaN is the extreme wherever there is one.
  if (is_float(x->shape.dtype)) there = there | is_nan(Value(edit, x));
  const Value number(edit, edit.iota(Dtype::S32, x->shape.dims, *axis));
  const Value index = select(there, number, number.like(static_cast<double>(size - 1)));
  Instruction* least_index = edit.reduce(
      index.inst(), edit.constant(Literal::scalar_int(Dtype::S32, size - 1)), {*axis}, Opcode::Minimum);
  Instruction* index_result = edit.convert(edit.reshape(least_index, indices.dims), indices.dtype);
  if (!is_pair) return index_result;
  return edit.tuple({edit.reshape(extreme, values.dims), index_result});
}

}  // namespace

Status legalize_intrinsics(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    Instruction* value = open_activation(edit, inst);
    return value ? value : open_rms_norm(edit, inst);
  });
}

Status legalize_softmax(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_softmax);
}

Status legalize_topk(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_topk);
}

Status lower_argminmax_custom_call(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_arg_extreme);
}

}  // namespace ncc::hlo_passes
