// scatter -> a counted loop (loop.h) over the index vectors: each step takes the window that a vector points
// to, applies the body to it and the update, and writes it back. Elements outside the operand are dropped one
// by one: the indexed dimensions are first padded by a window on either side, starts are clamped to that, and
// what landed on the padding is cut off at the end. Bodies that are more than elementwise work stay. Source:
// spec/stablehlo-text.md §3.6, spec/hlo-front-half.md §8.
#include <algorithm>

#include "tools/hlo-opt/hlo/expand/array_body.h"
#include "tools/hlo-opt/hlo/expand/index_steps.h"
#include "tools/hlo-opt/hlo/expand/loop.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool listed(const Dims& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); }

bool is_expandable(const Instruction& inst) {
  if (!inst.is(Opcode::Scatter) || !is_elementwise_body(*inst.body())) return false;
  for (const Instruction* operand : inst.operands)
    if (!is_plain_array(operand) || operand->shape.num_elements() > INT32_MAX / 4) return false;
  return inst.operands.back()->shape.num_elements() > 0 && inst.operand_shape(0).num_elements() > 0;
}

class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit),
        inst_(inst),
        dims_(inst->attrs().scatter),
        count_(inst->operands.size() / 2),
        operand_dims_(inst->operand_shape(0).dims),
        window_(operand_dims_.size(), 1) {
    const Dims& updates = inst->operands.back()->shape.dims;
    size_t next = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(window_.size()); ++d)
      if (!listed(dims_.inserted_window_dims, d) && !listed(dims_.input_batching_dims, d))
        window_[static_cast<size_t>(d)] = updates[static_cast<size_t>(dims_.update_window_dims[next++])];
    for (int64_t d = 0; d < static_cast<int64_t>(updates.size()); ++d)
      if (!listed(dims_.update_window_dims, d)) batch_.push_back(updates[static_cast<size_t>(d)]);
  }

  void run() {
    Instruction* rows =
        index_rows(edit_, inst_->operand(static_cast<int64_t>(count_)), dims_.index_vector_dim);
    std::vector<Instruction*> values;
    for (size_t i = 0; i < count_; ++i) values.push_back(padded(inst_->operands[i]));
    values.push_back(rows);
    for (size_t i = 0; i < count_; ++i) values.push_back(update_rows(inst_->operands[count_ + 1 + i]));
    values = counted_loop(edit_, rows->shape.dims[0], std::move(values),
                          [&](ComputationEditor& edit, Instruction* step,
                              const std::vector<Instruction*>& v) { return run_step(edit, step, v); });
    values.resize(count_);
    for (Instruction*& value : values) value = unpadded(value);
    edit_.replace(inst_, inst_->shape.is_tuple() ? edit_.tuple(std::move(values)) : values[0]);
  }

 private:
  int64_t margin(size_t d) const {
    return listed(dims_.scatter_dims_to_operand_dims, static_cast<int64_t>(d)) ? window_[d] : 0;
  }

  Instruction* padded(Instruction* x) {
    std::vector<hlo::PaddingDim> padding;
    for (size_t d = 0; d < window_.size(); ++d) padding.push_back({margin(d), margin(d), 0});
    return edit_.pad(x, edit_.scalar(x->shape.dtype, 0), std::move(padding));
  }

  Instruction* unpadded(Instruction* x) {
    Dims starts, limits;
    for (size_t d = 0; d < window_.size(); ++d) {
      starts.push_back(margin(d));
      limits.push_back(margin(d) + operand_dims_[d]);
    }
    return edit_.slice(x, std::move(starts), std::move(limits));
  }

  // [vectors, window of the operand...]
  Instruction* update_rows(Instruction* updates) {
    Dims order;
    for (int64_t d = 0; d < updates->shape.rank(); ++d)
      if (!listed(dims_.update_window_dims, d)) order.push_back(d);
    order.insert(order.end(), dims_.update_window_dims.begin(), dims_.update_window_dims.end());
    Dims sizes = window_;
    int64_t vectors = 1;
    for (int64_t size : batch_) vectors *= size;
    sizes.insert(sizes.begin(), vectors);
    return edit_.reshape(edit_.transpose(updates, std::move(order)), std::move(sizes));
  }

  std::vector<Instruction*> starts_of(ComputationEditor& edit, Instruction* step, Instruction* rows) const {
    std::vector<Instruction*> starts(window_.size(), edit.scalar(Dtype::S32, 0));
    for (size_t k = 0; k < dims_.scatter_dims_to_operand_dims.size(); ++k) {
      const auto d = static_cast<size_t>(dims_.scatter_dims_to_operand_dims[k]);
      Instruction* start =
          clamped_component(edit, rows, step, static_cast<int64_t>(k), -window_[d], operand_dims_[d]);
      starts[d] =
          edit.apply(Opcode::Add, {start, edit.constant(Literal::scalar_int(Dtype::S32, window_[d]))});
    }
    for (size_t k = 0; k < dims_.input_batching_dims.size(); ++k) {
      int64_t d = dims_.scatter_indices_batching_dims[k];
      if (d > dims_.index_vector_dim) --d;
      starts[static_cast<size_t>(dims_.input_batching_dims[k])] =
          coordinate(edit, step, batch_, static_cast<size_t>(d));
    }
    return starts;
  }

  // Values: operands, rows of indices, rows of updates.
  std::vector<Instruction*> run_step(ComputationEditor& edit, Instruction* step,
                                     std::vector<Instruction*> values) const {
    const std::vector<Instruction*> starts = starts_of(edit, step, values[count_]);
    std::vector<Instruction*> arguments;
    for (size_t i = 0; i < count_; ++i) arguments.push_back(edit.dynamic_slice(values[i], starts, window_));
    Dims row = window_;
    row.insert(row.begin(), 1);
    std::vector<Instruction*> place(row.size(), edit.scalar(Dtype::S32, 0));
    place[0] = step;
    for (size_t i = 0; i < count_; ++i)
      arguments.push_back(edit.reshape(edit.dynamic_slice(values[count_ + 1 + i], place, row), window_));
    Instruction* results = applied_body(edit, *inst_->body(), arguments);
    for (size_t i = 0; i < count_; ++i) {
      Instruction* result =
          results->shape.is_tuple() ? edit.element(results, static_cast<int64_t>(i)) : results;
      result = edit.convert(result, values[i]->shape.dtype);
      values[i] = edit.dynamic_update_slice(values[i], result, starts);
    }
    return values;
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const hlo::ScatterDims dims_;
  const size_t count_;  // operands
  const Dims operand_dims_;
  Dims window_;  // sizes per operand dimension
  Dims batch_;   // sizes of the update dimensions that number the index vectors
};

}  // namespace

Status scatter_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (is_expandable(*inst) && !edit.is_pinned(inst)) Expansion(edit, inst).run();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
