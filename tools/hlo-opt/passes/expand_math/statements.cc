#include "tools/hlo-opt/passes/expand_math/statements.h"

#include <algorithm>

#include "common/diag/status.h"
#include "ir-formats/penguin/access.h"

namespace ncc::hlo_opt::math_expansion {

using penguin::AxisId;
using penguin::AxisRole;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;
using penguin::TensorOp;

bool Statements::reads_window(const Inst& inst) const {
  const Operand& data = inst.operands[0];
  return data.kind == Operand::Kind::Tensor &&
         !penguin::is_injective(data.index, used_axes(inst.axes, data),
                                [this](AxisId axis) { return extent(axis); });
}

AxisId Statements::new_axis(AxisId from, int64_t extent) {
  function_.axes.push_back({function_.axes[from].name, extent});
  return static_cast<AxisId>(function_.axes.size() - 1);
}

Operand Statements::temporary(const std::string& suffix, Dtype dtype, const Axes& axes) {
  penguin::Tensor tensor;
  tensor.name = names_.make(base_name(original_, function_), suffix);
  tensor.dtype = dtype;
  tensor.loc = original_.loc;
  Operand operand;
  operand.dtype = dtype;
  for (const penguin::IterationAxis& entry : axes) {
    tensor.shape.push_back(extent(entry.axis));
    operand.index.push_back(module_.affine->axis(entry.axis));
  }
  operand.tensor = static_cast<penguin::TensorId>(function_.tensors.size());
  function_.tensors.push_back(std::move(tensor));
  return operand;
}

void Statements::substitute(affine::Context& context, Operand& operand, AxisId from, affine::Ref to) {
  for (affine::Ref& index : operand.index) index = context.substitute(index, {{from, to}});
  if (operand.value != nullptr) operand.value = context.substitute(operand.value, {{from, to}});
}

Operand Statements::with_axis(Operand operand, AxisId from, AxisId to, int64_t scale, int64_t offset) const {
  affine::Context& context = *module_.affine;
  substitute(context, operand, from,
             to == penguin::kNone ? context.constant(offset) : context.axis(to, scale, offset));
  return operand;
}

Operand Statements::with_sum(Operand operand, AxisId from, AxisId outer, int64_t size, AxisId inner) const {
  affine::Context& context = *module_.affine;
  substitute(context, operand, from, context.make(0, {{outer, size}, {inner, 1}}));
  return operand;
}

Operand Statements::scalar(Dtype dtype, int64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::Scalar;
  operand.dtype = dtype;
  store_from_int64(dtype, &operand.scalar, value);
  return operand;
}

Inst& Statements::append(TensorOp op, ScalarFunction function, std::vector<Operand> operands,
                         const Operand& result, const Axes& axes) {
  auto inst = std::make_unique<Inst>();
  inst->name =
      result.tensor == original_.result.tensor ? original_.name : function_.tensors[result.tensor].name;
  inst->op = op;
  inst->function = function;
  inst->axes = axes;
  inst->operands = std::move(operands);
  inst->result = result;
  inst->tags = original_.tags;
  inst->loc = original_.loc;
  penguin::Stmt stmt;
  stmt.inst = std::move(inst);
  out_.push_back(std::move(stmt));
  return *out_.back().inst;
}

Inst& Statements::map(ScalarFunction function, std::vector<Operand> operands, const Operand& result,
                      const Axes& axes) {
  Axes parallel = axes;
  for (penguin::IterationAxis& entry : parallel) entry.role = AxisRole::Parallel;
  return append(TensorOp::Map, function, std::move(operands), result, parallel);
}

Operand Statements::map(const std::string& suffix, ScalarFunction function, std::vector<Operand> operands,
                        Dtype result, const Axes& axes) {
  const Operand target = temporary(suffix, result, axes);
  map(function, std::move(operands), target, axes);
  return target;
}

Inst& Statements::reduce(ScalarFunction function, const Operand& data, const Operand& identity,
                         const Operand& result, const Axes& axes) {
  return append(TensorOp::Reduce, function, {data, identity}, result, axes);
}

Inst& Statements::contract(const Operand& lhs, const Operand& rhs, const Operand& result, const Axes& axes) {
  return append(TensorOp::Contract, ScalarFunction::Multiply, {lhs, rhs}, result, axes);
}

void Statements::finish(const Operand& value, const Axes& axes) {
  Inst* last = out_.empty() ? nullptr : out_.back().inst.get();
  const bool is_newest = last != nullptr && last->result.tensor == value.tensor &&
                         value.tensor + 1 == function_.tensors.size() && value.index == last->result.index;
  if (!is_newest || value.dtype != original_.result.dtype) {
    map(ScalarFunction::Convert, {value}, original_.result, axes);
    return;
  }
  function_.tensors.pop_back();
  last->result = original_.result;
  last->name = original_.name;
}

Axes with_role(const Axes& axes, AxisRole role) {
  Axes kept;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(kept),
               [&](const auto& entry) { return entry.role == role; });
  return kept;
}

Axes without_role(const Axes& axes, AxisRole role) {
  Axes kept;
  std::copy_if(axes.begin(), axes.end(), std::back_inserter(kept),
               [&](const auto& entry) { return entry.role != role; });
  return kept;
}

Axes used_axes(const Axes& axes, const Operand& operand) {
  Axes kept;
  for (const penguin::IterationAxis& entry : axes) {
    auto uses = [&](affine::Ref e) { return e != nullptr && e->coef(entry.axis) != 0; };
    if (uses(operand.value) || std::any_of(operand.index.begin(), operand.index.end(), uses))
      kept.push_back(entry);
  }
  return kept;
}

}  // namespace ncc::hlo_opt::math_expansion
