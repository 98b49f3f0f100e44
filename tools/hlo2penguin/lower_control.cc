// Calls are followed in place; conditionals without effects compute every branch and select; loops of known
// trip count are unrolled.
#include "ir-formats/hlo/device_part.h"
#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::ScalarFunction;

namespace {

/// Instructions that unrolling one loop may add before it is refused.
constexpr int64_t kMaxUnrolled = 200000;

/// Custom calls that only annotate their operands: on one core a device's part of a value is the whole.
bool is_annotation(const hlo::Instruction& inst) {
  const std::string_view target = inst.attrs().custom_call_target;
  return target == "Sharding" || target.starts_with("xla.sdy.") || hlo::leads_to_part(inst).has_value() ||
         target == "AwsNeuronTransferWithStaticRing" || target.starts_with("AwsNeuronModuleMarker") ||
         target.starts_with("NeuronBoundaryMarker");
}

}  // namespace

std::optional<int64_t> Lowering::known_scalar(const Value& value) const {
  if (!value.view || !value.view->is_scalar()) return std::nullopt;
  const uint64_t bits = value.view->scalar_bits();
  return load_as_int64(value.view->dtype(), &bits);
}

Result<Value> Lowering::lower_call(const Instruction& inst) {
  Arguments arguments;
  for (int64_t i = 0; i < inst.num_operands(); ++i) arguments.push_back(operand(inst, i));
  return lower_computation(*inst.body(), arguments);
}

Result<Value> Lowering::lower_tuple(const Instruction& inst) {
  std::vector<Value> elements;
  for (int64_t i = 0; i < inst.num_operands(); ++i) elements.push_back(operand(inst, i));
  return Value::tuple(std::move(elements));
}

Result<Value> Lowering::lower_get_tuple_element(const Instruction& inst) {
  return operand(inst, 0).elements[static_cast<size_t>(inst.index)];
}

Value Lowering::select(const View& predicate, const Value& on_true, const Value& on_false,
                       const Instruction& inst) {
  if (!on_true.view) {
    std::vector<Value> elements;
    for (size_t i = 0; i < on_true.elements.size(); ++i)
      elements.push_back(select(predicate, on_true.elements[i], on_false.elements[i], inst));
    return Value::tuple(std::move(elements));
  }
  Emission out = emission(inst);
  out.function = ScalarFunction::SelectModel;
  out.operands = {predicate.broadcast({}, on_true.view->shape()), *on_true.view, *on_false.view};
  return emit_elementwise(std::move(out), on_true.view->dtype());
}

Result<Value> Lowering::lower_conditional(const Instruction& inst) {
  const size_t branches = inst.called.size();
  if (inst.has_side_effect()) return unsupported(inst, "a branch has side effects");
  const View index = view(inst, 0);
  const bool is_predicate = index.dtype() == Dtype::Pred;  // branch 0 is taken when true
  const auto branch = [&](size_t b) {
    return lower_computation(*inst.called[b], {operand(inst, static_cast<int64_t>(b) + 1)});
  };
  if (const std::optional<int64_t> known = known_scalar(operand(inst, 0))) {
    if (is_predicate) return branch(*known != 0 ? 0 : 1);
    return branch(*known < 0 || *known >= static_cast<int64_t>(branches) ? branches - 1
                                                                         : static_cast<size_t>(*known));
  }
  // An index out of range takes the last branch.
  NCC_ASSIGN(Value result, branch(branches - 1));
  for (size_t b = branches - 1; b-- > 0;) {
    NCC_ASSIGN(const Value taken, branch(b));
    View predicate = index;
    if (!is_predicate) {
      uint64_t bits = 0;
      store_from_int64(index.dtype(), &bits, static_cast<int64_t>(b));
      Emission equal = emission(inst);
      equal.function = ScalarFunction::Compare;
      equal.operands = {index, View::scalar(builder_.affine(), index.dtype(), bits, {})};
      predicate = emit_elementwise(std::move(equal), Dtype::Pred);
    }
    result = select(predicate, taken, result, inst);
  }
  return result;
}

Result<Value> Lowering::lower_while(const Instruction& inst) {
  Value state = operand(inst, 0);
  const size_t start = builder_.function().body.size();
  while (true) {
    NCC_ASSIGN(const Value condition, lower_computation(*inst.while_condition(), {state}));
    const std::optional<int64_t> go_on = known_scalar(condition);
    if (!go_on) return unsupported(inst, "its trip count depends on data");
    if (*go_on == 0) return state;
    NCC_ASSIGN(state, lower_computation(*inst.while_body(), {state}));
    if (static_cast<int64_t>(builder_.function().body.size() - start) > kMaxUnrolled)
      return unsupported(inst, fmt::format("it unrolls to more than {} instructions", kMaxUnrolled));
  }
}

Result<Value> Lowering::lower_custom_call(const Instruction& inst) {
  if (inst.shape.is_tuple() && inst.shape.elements.empty())
    return Value::tuple({});  // it tells the host something
  if (!is_annotation(inst) || inst.num_operands() == 0)
    return unsupported(inst, fmt::format("custom call '{}'", inst.attrs().custom_call_target));
  if (inst.shape.is_tuple()) return lower_tuple(inst);
  return operand(inst, 0);
}

}  // namespace ncc::hlo2penguin
