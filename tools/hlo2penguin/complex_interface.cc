#include "tools/hlo2penguin/complex_interface.h"

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo2penguin {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

bool is_complex_array(const Shape& shape) { return shape.is_array() && is_complex(shape.dtype); }

Dtype part_type(Dtype dtype) { return dtype == Dtype::C128 ? Dtype::F64 : Dtype::F32; }

std::vector<int64_t> with_plane(int64_t planes, const std::vector<int64_t>& dims) {
  std::vector<int64_t> all = {planes};
  all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

/// Part 0 or 1 of two planes.
Instruction* plane(hlo_passes::ComputationEditor& edit, Instruction* planes, int64_t part) {
  std::vector<int64_t> starts(planes->shape.dims.size(), 0), limits = planes->shape.dims;
  starts[0] = part;
  limits[0] = part + 1;
  const std::vector<int64_t> dims(planes->shape.dims.begin() + 1, planes->shape.dims.end());
  return edit.reshape(edit.slice(planes, std::move(starts), std::move(limits)), dims);
}

/// A parameter as planes; its users get the complex value that these are.
void split_parameter(hlo_passes::ComputationEditor& edit, Instruction* parameter) {
  const Shape complex = parameter->shape;
  const std::vector<Instruction*> users = edit.users(parameter);
  parameter->shape = Shape::array(part_type(complex.dtype), with_plane(2, complex.dims));
  Instruction* value =
      edit.add(Opcode::Complex, complex, {plane(edit, parameter, 0), plane(edit, parameter, 1)});
  for (Instruction* user : users)
    for (int64_t slot = 0; slot < user->num_operands(); ++slot)
      if (user->operand(slot) == parameter) edit.set_operand(user, slot, value);
  if (edit.computation()->root() == parameter) edit.set_root(value);
}

/// A result as planes; tuples element by element.
Instruction* joined_result(hlo_passes::ComputationEditor& edit, Instruction* value) {
  if (value->shape.is_tuple()) {
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < value->shape.elements.size(); ++i)
      elements.push_back(joined_result(edit, edit.element(value, static_cast<int64_t>(i))));
    return edit.tuple(std::move(elements));
  }
  if (!is_complex_array(value->shape)) return value;
  const std::vector<int64_t> dims = with_plane(1, value->shape.dims);
  return edit.concatenate({edit.reshape(edit.apply(Opcode::Real, {value}), dims),
                           edit.reshape(edit.apply(Opcode::Imag, {value}), dims)},
                          0);
}

bool any_leaf_is_complex(const Shape& shape) {
  if (is_complex_array(shape)) return true;
  for (const Shape& element : shape.elements)
    if (any_leaf_is_complex(element)) return true;
  return false;
}

}  // namespace

bool holds_complex(const hlo::Module& module) {
  for (const hlo::Computation* computation : module.post_order())
    for (const auto& inst : computation->instructions())
      if (any_leaf_is_complex(inst->shape)) return true;
  return false;
}

Status split_interface(hlo::Module& module) {
  hlo_passes::ComputationEditor edit(module.entry());
  for (Instruction* parameter : module.entry()->parameters())
    if (is_complex_array(parameter->shape)) split_parameter(edit, parameter);
  if (any_leaf_is_complex(module.entry()->root()->shape))
    edit.set_root(joined_result(edit, module.entry()->root()));
  module.has_entry_layout = false;
  return edit.finish();
}

}  // namespace ncc::hlo2penguin
