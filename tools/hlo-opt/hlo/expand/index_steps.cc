#include "tools/hlo-opt/hlo/expand/index_steps.h"

#include <algorithm>
#include <numeric>

namespace ncc::hlo_passes {

Instruction* index_rows(ComputationEditor& edit, Instruction* indices, int64_t index_vector_dim) {
  const Shape shape = indices->shape;
  if (info(shape.dtype).bits < 32) indices = edit.convert(indices, Dtype::S32);
  int64_t components = 1, vectors = 1;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (d != index_vector_dim) vectors *= shape.dims[static_cast<size_t>(d)];
  if (index_vector_dim < shape.rank()) {
    components = shape.dims[static_cast<size_t>(index_vector_dim)];
    Dims order;
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (d != index_vector_dim) order.push_back(d);
    order.push_back(index_vector_dim);
    indices = edit.transpose(indices, std::move(order));
  }
  return edit.reshape(indices, {vectors, components});
}

Instruction* clamped_component(ComputationEditor& edit, Instruction* rows, Instruction* step, int64_t k,
                               int64_t low, int64_t high) {
  const Dtype dtype = rows->shape.dtype;
  if (!is_signed_int(dtype)) low = std::max<int64_t>(low, 0);
  Instruction* at = edit.scalar(Dtype::S32, static_cast<double>(k));
  Instruction* component = edit.reshape(edit.dynamic_slice(rows, {step, at}, {1, 1}), {});
  Instruction* least = edit.constant(Literal::scalar_int(dtype, low));
  Instruction* most = edit.constant(Literal::scalar_int(dtype, high));
  component = edit.apply(Opcode::Minimum, {edit.apply(Opcode::Maximum, {component, least}), most});
  return edit.convert(component, Dtype::S32);
}

Instruction* coordinate(ComputationEditor& edit, Instruction* step, const Dims& sizes, size_t d) {
  const int64_t inner = std::accumulate(sizes.begin() + static_cast<int64_t>(d) + 1, sizes.end(), int64_t{1},
                                        std::multiplies<>());
  Instruction* quotient =
      edit.apply(Opcode::Divide, {step, edit.constant(Literal::scalar_int(Dtype::S32, inner))});
  return edit.apply(Opcode::Remainder, {quotient, edit.constant(Literal::scalar_int(Dtype::S32, sizes[d]))});
}

}  // namespace ncc::hlo_passes
