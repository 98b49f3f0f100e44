// gather -> a counted loop (loop.h) over the index vectors: each step cuts one window out of the operand with
// dynamic-slice and writes it into its row of the result; at the end rows and window get the places that
// offset_dims give them. Indices are clamped so that the window fits, in their own type. Source:
// spec/stablehlo-text.md §3.6, spec/hlo-front-half.md §8.
#include <algorithm>

#include "tools/hlo-opt/hlo/expand/index_steps.h"
#include "tools/hlo-opt/hlo/expand/loop.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool listed(const Dims& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); }

bool is_expandable(const Instruction& inst) {
  return inst.is(Opcode::Gather) && is_plain_array(&inst) && is_plain_array(inst.operand(0)) &&
         is_plain_array(inst.operand(1)) && inst.shape.num_elements() > 0 &&
         inst.operand_shape(0).num_elements() <= INT32_MAX && inst.shape.num_elements() <= INT32_MAX;
}

class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit), inst_(inst), dims_(inst->attrs().gather), sizes_(inst->attrs().slice_sizes) {
    for (int64_t d = 0; d < inst->operand_shape(1).rank(); ++d)
      if (d != dims_.index_vector_dim) batch_.push_back(inst->operand_shape(1).dims[static_cast<size_t>(d)]);
    for (int64_t d = 0; d < static_cast<int64_t>(sizes_.size()); ++d)
      if (!listed(dims_.collapsed_slice_dims, d) && !listed(dims_.operand_batching_dims, d))
        window_.push_back(sizes_[static_cast<size_t>(d)]);
  }

  void run() {
    Instruction* rows = index_rows(edit_, inst_->operand(1), dims_.index_vector_dim);
    const int64_t count = rows->shape.dims[0];
    Dims row_sizes = window_;
    row_sizes.insert(row_sizes.begin(), count);
    Instruction* result = edit_.splat(Shape::array(inst_->shape.dtype, row_sizes), 0);
    const auto values =
        counted_loop(edit_, count, {inst_->operand(0), rows, result},
                     [&](ComputationEditor& edit, Instruction* step, const std::vector<Instruction*>& v) {
                       return std::vector<Instruction*>{v[0], v[1], with_row(edit, step, v[0], v[1], v[2])};
                     });
    edit_.replace(inst_, placed(values[2]));
  }

 private:
  Instruction* with_row(ComputationEditor& edit, Instruction* step, Instruction* x, Instruction* rows,
                        Instruction* result) const {
    Instruction* zero = edit.scalar(Dtype::S32, 0);
    std::vector<Instruction*> starts(sizes_.size(), zero);
    for (size_t k = 0; k < dims_.start_index_map.size(); ++k) {
      const auto d = static_cast<size_t>(dims_.start_index_map[k]);
      starts[d] =
          clamped_component(edit, rows, step, static_cast<int64_t>(k), 0, x->shape.dims[d] - sizes_[d]);
    }
    for (size_t k = 0; k < dims_.operand_batching_dims.size(); ++k) {
      int64_t d = dims_.start_indices_batching_dims[k];
      if (d > dims_.index_vector_dim) --d;
      starts[static_cast<size_t>(dims_.operand_batching_dims[k])] =
          coordinate(edit, step, batch_, static_cast<size_t>(d));
    }
    Dims row_sizes = result->shape.dims;
    row_sizes[0] = 1;
    std::vector<Instruction*> place(row_sizes.size(), zero);
    place[0] = step;
    Instruction* window = edit.reshape(edit.dynamic_slice(x, std::move(starts), sizes_), row_sizes);
    return edit.dynamic_update_slice(result, window, std::move(place));
  }

  // [rows, window...] -> [batch..., window...] -> the result's order.
  Instruction* placed(Instruction* rows) {
    Dims sizes = batch_, order;
    sizes.insert(sizes.end(), window_.begin(), window_.end());
    int64_t next_batch = 0, next_window = static_cast<int64_t>(batch_.size());
    for (int64_t d = 0; d < inst_->shape.rank(); ++d)
      order.push_back(listed(dims_.offset_dims, d) ? next_window++ : next_batch++);
    return edit_.transpose(edit_.reshape(rows, std::move(sizes)), std::move(order));
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const hlo::GatherDims dims_;
  const Dims sizes_;  // of the slice, per operand dimension
  Dims batch_, window_;
};

}  // namespace

Status gather_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (is_expandable(*inst) && !edit.is_pinned(inst)) Expansion(edit, inst).run();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
