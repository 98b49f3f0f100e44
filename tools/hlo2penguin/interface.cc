#include "tools/hlo2penguin/interface.h"

namespace ncc::hlo2penguin {
namespace {

using hlo::Shape;

void add_leaves(const Shape& shape, std::vector<Shape>& leaves) {
  for (const Shape& element : shape.elements) add_leaves(element, leaves);
  if (!shape.is_tuple()) leaves.push_back(shape);
}

void declare(const std::vector<Shape>& leaves, bool has_word_pairs,
             std::vector<penguin::IoBinding>& bindings) {
  for (size_t i = 0; i < leaves.size() && i < bindings.size(); ++i) {
    if (!leaves[i].is_array()) continue;
    const Dtype dtype = leaves[i].dtype;
    const bool is_pair = has_word_pairs && (dtype == Dtype::S64 || dtype == Dtype::U64);
    if (!is_complex(dtype) && !is_pair) continue;
    bindings[i].declared_dtype = dtype;
    bindings[i].declared_shape = leaves[i].dims;
    if (is_complex(dtype)) bindings[i].conversion = "complex_planes";
  }
}

}  // namespace

Interface interface_of(const hlo::Module& module) {
  Interface declared;
  for (const hlo::Instruction* parameter : module.entry()->parameters())
    add_leaves(parameter->shape, declared.parameters);
  add_leaves(module.entry()->root()->shape, declared.results);
  return declared;
}

void declare_interface(const Interface& declared, bool has_word_pairs, penguin::Module& lowered) {
  declare(declared.parameters, has_word_pairs, lowered.inputs);
  declare(declared.results, has_word_pairs, lowered.outputs);
}

}  // namespace ncc::hlo2penguin
