// Gathers that move one window:
//   gather(x, one index vector) -> dynamic-slice(x, the vector's components), reshaped to the result
//   gather(x, …) of nothing     -> left to zero_sized_hlo_elimination
// Both clamp the start so that the window fits. Batching dimensions stay gathers. Source: DESIGN §6 (7);
// spec/hlo-front-half.md §8.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

// The scalar components of the only index vector, in the order of start_index_map.
std::vector<Instruction*> components(ComputationEditor& edit, Instruction* indices, int64_t count) {
  std::vector<Instruction*> scalars;
  Instruction* flat = edit.reshape(indices, {count});
  for (int64_t k = 0; k < count; ++k) scalars.push_back(edit.reshape(edit.slice(flat, {k}, {k + 1}), {}));
  return scalars;
}

Instruction* simplify_gather(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Gather) || !is_plain_array(inst) || !is_plain_array(inst->operand(0)) ||
      inst->shape.num_elements() == 0)
    return nullptr;
  const hlo::GatherDims& dims = inst->attrs().gather;
  Instruction *x = inst->operand(0), *indices = inst->operand(1);
  const int64_t count = static_cast<int64_t>(dims.start_index_map.size());
  if (!dims.operand_batching_dims.empty() || indices->shape.num_elements() != count || count == 0)
    return nullptr;
  // The window's own dimensions keep their order in the result, collapsed and index dimensions are 1: the
  // result has the elements of the slice in order.
  const std::vector<Instruction*> scalars = components(edit, indices, count);
  Instruction* zero = edit.constant(Literal::scalar_int(indices->shape.dtype, 0));
  std::vector<Instruction*> starts(x->shape.dims.size(), zero);
  for (int64_t k = 0; k < count; ++k) starts[at(dims.start_index_map[at(k)])] = scalars[at(k)];
  return edit.reshape(edit.dynamic_slice(x, std::move(starts), inst->attrs().slice_sizes), inst->shape.dims);
}

}  // namespace

Status gather_simplifier(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, simplify_gather);
}

}  // namespace ncc::hlo_passes
