#include <algorithm>
#include <numeric>

#include "ir-formats/hlo/verify.h"
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

Instruction* ComputationEditor::finish_new(Instruction* inst) {
  if (inst->loc.empty()) inst->loc = loc_;
  add_uses(inst);
  // Bodies of reductions and the like have no effect; calls that may have one state it.
  node(inst).has_effect = inst->has_side_effect();
  enqueue(inst);
  return inst;
}

Instruction* ComputationEditor::derive_shape(Instruction* inst) {
  const Result<Shape> shape = hlo::infer_shape(*inst);
  NCC_CHECK(shape.is_ok(), "{}", shape.status().diagnostic().cause);
  inst->shape = shape.value();
  return finish_new(inst);
}

Instruction* ComputationEditor::add(Opcode opcode, Shape shape, std::vector<Instruction*> operands) {
  return finish_new(computation_->add(opcode, std::move(shape), std::move(operands)));
}

Instruction* ComputationEditor::apply(Opcode opcode, std::vector<Instruction*> operands) {
  Shape shape = operands.empty() ? Shape() : operands.back()->shape;
  return derive_shape(computation_->add(opcode, std::move(shape), std::move(operands)));
}

Instruction* ComputationEditor::clone(const Instruction* inst, std::vector<Instruction*> operands) {
  return finish_new(computation_->add_clone(*inst, std::move(operands)));
}

Instruction* ComputationEditor::compare(hlo::CompareDirection direction, Instruction* a, Instruction* b,
                                        hlo::CompareType type) {
  Instruction* inst = computation_->add(Opcode::Compare, Shape::array(Dtype::Pred, a->shape.dims), {a, b});
  inst->direction = direction;
  inst->compare_type = type;
  return finish_new(inst);
}

Instruction* ComputationEditor::convert(Instruction* value, Dtype dtype) {
  if (value->shape.dtype == dtype) return value;
  return add(Opcode::Convert, Shape::array(dtype, value->shape.dims), {value});
}

Instruction* ComputationEditor::constant(Literal value) {
  return finish_new(computation_->add_constant(std::move(value)));
}

Instruction* ComputationEditor::scalar(Dtype dtype, double value) {
  return constant(Literal::scalar(dtype, value));
}

Instruction* ComputationEditor::splat(const Shape& shape, double value) {
  return broadcast_scalar(scalar(shape.dtype, value), shape.dims);
}

Instruction* ComputationEditor::broadcast(Instruction* value, Dims sizes, Dims dimensions) {
  if (sizes == value->shape.dims) return value;
  Instruction* inst =
      computation_->add(Opcode::Broadcast, Shape::array(value->shape.dtype, std::move(sizes)), {value});
  inst->dimensions = std::move(dimensions);
  return derive_shape(inst);
}

Instruction* ComputationEditor::iota(Dtype dtype, Dims sizes, int64_t dimension) {
  Instruction* inst = computation_->add(Opcode::Iota, Shape::array(dtype, std::move(sizes)));
  inst->dimensions = {dimension};
  return derive_shape(inst);
}

Instruction* ComputationEditor::reshape(Instruction* value, Dims sizes) {
  if (sizes == value->shape.dims) return value;
  return derive_shape(
      computation_->add(Opcode::Reshape, Shape::array(value->shape.dtype, std::move(sizes)), {value}));
}

Instruction* ComputationEditor::transpose(Instruction* value, Dims permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return value;
  Instruction* inst = computation_->add(Opcode::Transpose, value->shape, {value});
  inst->dimensions = std::move(permutation);
  return derive_shape(inst);
}

Instruction* ComputationEditor::slice(Instruction* value, Dims starts, Dims limits, Dims strides) {
  if (strides.empty()) strides.assign(starts.size(), 1);
  Instruction* inst = computation_->add(Opcode::Slice, value->shape, {value});
  hlo::Attributes& attrs = inst->mutable_attrs();
  attrs.slice_starts = std::move(starts);
  attrs.slice_limits = std::move(limits);
  attrs.slice_strides = std::move(strides);
  return derive_shape(inst);
}

Instruction* ComputationEditor::concatenate(std::vector<Instruction*> values, int64_t dimension) {
  if (values.size() == 1) return values[0];
  const Shape shape = values[0]->shape;
  Instruction* inst = computation_->add(Opcode::Concatenate, shape, std::move(values));
  inst->dimensions = {dimension};
  return derive_shape(inst);
}

Instruction* ComputationEditor::pad(Instruction* value, Instruction* padding_value,
                                    std::vector<hlo::PaddingDim> padding) {
  Instruction* inst = computation_->add(Opcode::Pad, value->shape, {value, padding_value});
  inst->mutable_attrs().padding = std::move(padding);
  return derive_shape(inst);
}

Instruction* ComputationEditor::reverse(Instruction* value, Dims dimensions) {
  if (dimensions.empty()) return value;
  Instruction* inst = computation_->add(Opcode::Reverse, value->shape, {value});
  inst->dimensions = std::move(dimensions);
  return derive_shape(inst);
}

Instruction* ComputationEditor::dynamic_slice(Instruction* value, std::vector<Instruction*> starts,
                                              Dims sizes) {
  starts.insert(starts.begin(), value);
  Instruction* inst =
      computation_->add(Opcode::DynamicSlice, Shape::array(value->shape.dtype, sizes), std::move(starts));
  inst->mutable_attrs().slice_sizes = std::move(sizes);
  return derive_shape(inst);
}

Instruction* ComputationEditor::dynamic_update_slice(Instruction* value, Instruction* update,
                                                     std::vector<Instruction*> starts) {
  starts.insert(starts.begin(), {value, update});
  return derive_shape(computation_->add(Opcode::DynamicUpdateSlice, value->shape, std::move(starts)));
}

Instruction* ComputationEditor::reduce(Instruction* value, Instruction* initial, Dims dimensions, Opcode op) {
  return reduce(std::vector<Instruction*>{value}, {initial}, std::move(dimensions),
                scalar_body(*computation_->module(), op, value->shape.dtype));
}

Instruction* ComputationEditor::reduce(std::vector<Instruction*> values, std::vector<Instruction*> initials,
                                       Dims dimensions, Computation* body) {
  values.insert(values.end(), initials.begin(), initials.end());
  Instruction* inst = computation_->add(Opcode::Reduce, body->root()->shape, std::move(values));
  inst->called = {body};
  inst->dimensions = std::move(dimensions);
  return derive_shape(inst);
}

Instruction* ComputationEditor::dot(Instruction* lhs, Instruction* rhs, hlo::DotDims dims) {
  Instruction* inst = computation_->add(Opcode::Dot, Shape::array(lhs->shape.dtype), {lhs, rhs});
  inst->mutable_attrs().dot = std::move(dims);
  return derive_shape(inst);
}

Instruction* ComputationEditor::tuple(std::vector<Instruction*> elements) {
  return finish_new(computation_->add_tuple(std::move(elements)));
}

Instruction* ComputationEditor::element(Instruction* tuple, int64_t index) {
  if (tuple->is(Opcode::Tuple)) return tuple->operand(index);
  return finish_new(computation_->add_get(tuple, index));
}

Instruction* ComputationEditor::inline_computation(const Computation& body,
                                                   const std::vector<Instruction*>& arguments) {
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const Instruction* inst : body.post_order()) {
    if (inst->is(Opcode::Parameter)) {
      copies[inst] = arguments[static_cast<size_t>(inst->index)];
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands) operands.push_back(copies.at(operand));
    Instruction* copy = computation_->add_clone(*inst, std::move(operands));
    for (const Instruction* before : inst->control_predecessors)
      copy->control_predecessors.push_back(copies.at(before));
    finish_new(copy);
    node(copy).has_control_edge = !copy->control_predecessors.empty();
    for (const Instruction* before : copy->control_predecessors) node(before).has_control_edge = true;
    copies[inst] = copy;
  }
  return copies.at(body.root());
}

}  // namespace ncc::hlo_passes
