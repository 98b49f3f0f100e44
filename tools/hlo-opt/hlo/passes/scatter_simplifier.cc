// Scatters that write one window at a known place:
//   scatter(x, one constant index vector, u), body (old, new) -> new -> dynamic-update-slice(x, u, …)
//   scatter(x, no index vector, u)                                    -> x
// The window must lie inside: scatter drops a window that does not, an update-slice moves it. Source:
// spec/hlo-front-half.md §8.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

bool replaces(const Computation& body) {
  return body.root()->is(Opcode::Parameter) && body.root()->index == 1;
}

Instruction* simplify_scatter(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Scatter) || inst->num_operands() != 3 || !is_plain_array(inst) ||
      !is_plain_array(inst->operand(2)))
    return nullptr;
  Instruction *x = inst->operand(0), *indices = inst->operand(1), *update = inst->operand(2);
  if (update->shape.num_elements() == 0) return x;
  const hlo::ScatterDims& dims = inst->attrs().scatter;
  const int64_t count = static_cast<int64_t>(dims.scatter_dims_to_operand_dims.size());
  if (!replaces(*inst->body()) || !dims.input_batching_dims.empty() || !indices->is(Opcode::Constant) ||
      indices->shape.num_elements() != count || count == 0 || x->shape.dtype != update->shape.dtype)
    return nullptr;
  // Sizes of the window by operand dimension: 1 where inserted, else the update's own, in order.
  Dims sizes;
  size_t next = 0;
  for (int64_t d = 0; d < x->shape.rank(); ++d) {
    const bool is_inserted = std::find(dims.inserted_window_dims.begin(), dims.inserted_window_dims.end(),
                                       d) != dims.inserted_window_dims.end();
    sizes.push_back(is_inserted ? 1 : update->shape.dims[at(dims.update_window_dims[next++])]);
  }
  Dims starts(x->shape.dims.size(), 0);
  for (int64_t k = 0; k < count; ++k)
    starts[at(dims.scatter_dims_to_operand_dims[at(k)])] = indices->literal.as_int64(k);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (starts[d] < 0 || starts[d] > x->shape.dims[d] - sizes[d]) return nullptr;
  std::vector<Instruction*> scalars;
  const bool is_small =
      std::all_of(starts.begin(), starts.end(), [](int64_t start) { return start <= INT32_MAX; });
  for (int64_t start : starts)
    scalars.push_back(edit.constant(Literal::scalar_int(is_small ? Dtype::S32 : Dtype::S64, start)));
  return edit.dynamic_update_slice(x, edit.reshape(update, sizes), std::move(scalars));
}

}  // namespace

Status scatter_simplifier(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, simplify_scatter);
}

}  // namespace ncc::hlo_passes
