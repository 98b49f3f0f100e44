// Comparators of sort in one form, where the order is one comparison:
//   compare(rhs, lhs, GT)                  -> compare(lhs, rhs, LT): the left element first
//   compare(f(lhs_i), f(rhs_i)), f a chain -> f is applied to the whole array beforehand, once per element
//   instead of of elementwise ops                        once per comparison; the keys are one more sorted
//   array
// Frameworks write f to canonicalise NaN and zeros. Results keep their bits: the order is the same, element
// by element. Source: spec/stablehlo-text.md §3.7, spec/hlo-front-half.md §5.3.
#include <unordered_map>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::CompareDirection;

CompareDirection swapped(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::GE:
      return CompareDirection::LE;
    case CompareDirection::GT:
      return CompareDirection::LT;
    case CompareDirection::LE:
      return CompareDirection::GE;
    case CompareDirection::LT:
      return CompareDirection::GT;
    default:
      return direction;
  }
}

// Two values of a comparator are the same function of lhs_i and of rhs_i. Walks both at once.
class Symmetry {
 public:
  // The array number i, or -1.
  int64_t array_of(const Instruction* left, const Instruction* right) {
    array_ = -1;
    return same(left, right, 0) ? array_ : -1;
  }

 private:
  static bool may_hoist(const Instruction& inst) {
    return (inst.info().elementwise && !inst.is(Opcode::Map)) || inst.is(Opcode::BitcastConvert);
  }

  bool same(const Instruction* left, const Instruction* right, int depth) {
    if (depth > 64) return false;
    const auto [place, is_new] = seen_.emplace(left, right);
    if (!is_new) return place->second == right;
    if (left->opcode != right->opcode || !(left->shape == right->shape) || !left->shape.is_scalar())
      return false;
    if (left->is(Opcode::Parameter)) {
      if (left->index % 2 != 0 || right->index != left->index + 1) return false;
      if (array_ >= 0 && array_ != left->index / 2) return false;
      array_ = left->index / 2;
      return true;
    }
    if (left->is(Opcode::Constant)) return left->literal == right->literal;
    if (!may_hoist(*left) || left->direction != right->direction ||
        left->compare_type != right->compare_type || !(left->attrs() == right->attrs()) ||
        left->num_operands() != right->num_operands())
      return false;
    for (int64_t i = 0; i < left->num_operands(); ++i) {
      if (!same(left->operand(i), right->operand(i), depth + 1)) return false;
    }
    return true;
  }

  int64_t array_ = -1;
  std::unordered_map<const Instruction*, const Instruction*> seen_;
};

// The scalar function whose value is `value`, of the parameter it depends on, applied to a whole array.
Instruction* applied(ComputationEditor& edit, const Instruction* value, Instruction* array,
                     std::unordered_map<const Instruction*, Instruction*>& done) {
  const auto found = done.find(value);
  if (found != done.end()) return found->second;
  Instruction* result;
  const Dims& dims = array->shape.dims;
  if (value->is(Opcode::Parameter)) {
    result = array;
  } else if (value->is(Opcode::Constant)) {
    result = edit.broadcast_scalar(edit.constant(value->literal), dims);
  } else {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : value->operands)
      operands.push_back(applied(edit, operand, array, done));
    result = edit.clone(value, std::move(operands));
    result->shape = Shape::array(value->shape.dtype, dims);
  }
  done[value] = result;
  return result;
}

// A comparator of `count` arrays that compares the keys, which come last.
Computation* key_comparator(hlo::Module& module, const Instruction& sort, const Instruction& compare,
                            CompareDirection direction) {
  Computation* body = module.add_computation("key_order");
  int64_t number = 0;
  for (const Instruction* operand : sort.operands) {
    body->add_parameter(number++, Shape::array(operand->shape.dtype));
    body->add_parameter(number++, Shape::array(operand->shape.dtype));
  }
  const Shape key = Shape::array(compare.operand_shape(0).dtype);
  Instruction* left = body->add_parameter(number, key);
  Instruction* right = body->add_parameter(number + 1, key);
  Instruction* before = body->add(Opcode::Compare, Shape::array(Dtype::Pred), {left, right});
  before->direction = direction;
  before->compare_type = compare.compare_type;
  body->set_root(before);
  return body;
}

void hoist(hlo::Module& module, ComputationEditor& edit, Instruction* sort, const Instruction& compare,
           const Instruction* key, int64_t array, CompareDirection direction) {
  std::unordered_map<const Instruction*, Instruction*> done;
  Instruction* keys = applied(edit, key, sort->operand(array), done);
  std::vector<Instruction*> operands = sort->operands;
  std::vector<Shape> shapes;
  for (const Instruction* operand : operands) shapes.push_back(operand->shape);
  Computation* body = key_comparator(module, *sort, compare, direction);
  operands.push_back(keys);
  shapes.push_back(keys->shape);
  Instruction* sorted = edit.clone(sort, std::move(operands));
  sorted->shape = Shape::make_tuple(std::move(shapes));
  sorted->called = {body};
  if (!sort->shape.is_tuple()) {
    edit.replace(sort, edit.element(sorted, 0));
    return;
  }
  std::vector<Instruction*> results;
  for (int64_t i = 0; i < sort->num_operands(); ++i) results.push_back(edit.element(sorted, i));
  edit.replace(sort, edit.tuple(std::move(results)));
}

Status canonicalize(hlo::Module& module, ComputationEditor& edit, Instruction* sort) {
  const Instruction* root = sort->body()->root();
  if (!root->is(Opcode::Compare)) return Status::ok();
  const Instruction *left = root->operand(0), *right = root->operand(1);
  CompareDirection direction = root->direction;
  int64_t array = Symmetry().array_of(left, right);
  if (array < 0) {
    array = Symmetry().array_of(right, left);
    if (array < 0) return Status::ok();
    std::swap(left, right);
    direction = swapped(direction);
  }
  if (!left->is(Opcode::Parameter)) {
    hoist(module, edit, sort, *root, left, array, direction);
  } else if (left != root->operand(0)) {
    // Other sorts may share the body.
    Computation* body = module.add_computation(sort->body()->name());
    std::unordered_map<const Instruction*, Instruction*> parameters;
    for (const Instruction* parameter : sort->body()->parameters())
      parameters[parameter] = body->add_parameter(parameter->index, parameter->shape);
    Instruction* before = body->add_clone(*root, {parameters[left], parameters[right]});
    before->direction = direction;
    body->set_root(before);
    sort->called = {body};
    edit.note_change(sort);
  }
  return Status::ok();
}

}  // namespace

Status sort_comparator_canonicalizer(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::Sort) || inst->shape.is_dynamic() || edit.is_pinned(inst)) return Status::ok();
    return canonicalize(module, edit, inst);
  });
}

}  // namespace ncc::hlo_passes
