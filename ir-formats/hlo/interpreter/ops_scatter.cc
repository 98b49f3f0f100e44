// scatter: for every index vector, in row-major order, the update window is combined into the operand element
// by element; elements whose target lies outside are skipped. Source: spec/stablehlo-text.md §3.6.
#include <algorithm>

#include "ir-formats/hlo/interpreter/combiner.h"
#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

bool listed(const std::vector<int64_t>& list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

// Combines runs of the innermost window dimension; a run is contiguous in operand and updates when strides
// are 1.
class Scatter {
 public:
  Scatter(Evaluator& evaluator, const Instruction& inst, std::vector<Literal>& results,
          std::span<const Literal> updates)
      : results_(results), updates_(updates), combiner_(evaluator, *inst.body()) {
    const ScatterDims& dims = inst.attrs().scatter;
    operand_dims_ = results[0].shape().dims;
    const std::vector<int64_t> operand_strides = row_major_strides(operand_dims_);
    const std::vector<int64_t> update_strides = row_major_strides(updates[0].shape().dims);
    for (int64_t d = 0; d < results[0].shape().rank(); ++d) {
      if (listed(dims.inserted_window_dims, d) || listed(dims.input_batching_dims, d)) continue;
      window_operand_dim_.push_back(static_cast<size_t>(d));
    }
    size_t w = 0;
    for (int64_t d = 0; d < updates[0].shape().rank(); ++d) {
      const size_t at = static_cast<size_t>(d);
      if (listed(dims.update_window_dims, d)) {
        window_.push_back(updates[0].shape().dims[at]);
        window_update_stride_.push_back(update_strides[at]);
        window_operand_stride_.push_back(operand_strides[window_operand_dim_[w++]]);
      } else {
        batch_update_stride_.push_back(update_strides[at]);
      }
    }
    operand_strides_ = operand_strides;
  }

  Status window_at(const std::vector<int64_t>& batch, const std::vector<int64_t>& start) {
    int64_t update = 0, operand = 0;
    for (size_t b = 0; b < batch.size(); ++b) update += batch[b] * batch_update_stride_[b];
    for (size_t d = 0; d < start.size(); ++d) {
      const bool in_window =
          std::find(window_operand_dim_.begin(), window_operand_dim_.end(), d) != window_operand_dim_.end();
      if (!in_window && (start[d] < 0 || start[d] >= operand_dims_[d])) return Status::ok();
      // Far-away starts would overflow the offset; no element of their window is inside.
      if (start[d] <= -kFar || start[d] >= kFar) return Status::ok();
      operand += start[d] * operand_strides_[d];
    }
    return combine_from(0, start, operand, update);
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 46;

  // The positions of window dimension w whose target is inside: [first, last).
  std::pair<int64_t, int64_t> inside(size_t w, const std::vector<int64_t>& start) const {
    const size_t d = window_operand_dim_[w];
    const int64_t first = std::max<int64_t>(0, -start[d]);
    return {first, std::min(window_[w], operand_dims_[d] - start[d])};
  }

  Status combine_from(size_t w, const std::vector<int64_t>& start, int64_t operand, int64_t update) {
    if (window_.empty()) return combine(operand, update, 1);
    const auto [first, last] = inside(w, start);
    const int64_t operand_stride = window_operand_stride_[w], update_stride = window_update_stride_[w];
    const bool innermost = w + 1 == window_.size();
    if (innermost && operand_stride == 1 && update_stride == 1)
      return last > first ? combine(operand + first, update + first, last - first) : Status::ok();
    for (int64_t i = first; i < last; ++i) {
      const int64_t to = operand + i * operand_stride, from = update + i * update_stride;
      NCC_TRY(innermost ? combine(to, from, 1) : combine_from(w + 1, start, to, from));
    }
    return Status::ok();
  }

  Status combine(int64_t operand, int64_t update, int64_t n) {
    in_.clear();
    out_.clear();
    for (Literal& result : results_) {
      out_.push_back(result.mutable_data() + operand * size_bytes(result.shape().dtype));
      in_.push_back(out_.back());
    }
    for (const Literal& values : updates_)
      in_.push_back(values.bytes().data() + update * size_bytes(values.shape().dtype));
    return combiner_.apply(in_, out_, n);
  }

  std::vector<Literal>& results_;
  std::span<const Literal> updates_;
  Combiner combiner_;
  std::vector<int64_t> operand_dims_, operand_strides_;
  std::vector<size_t> window_operand_dim_;
  std::vector<int64_t> window_, window_operand_stride_, window_update_stride_, batch_update_stride_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

}  // namespace

Result<Literal> eval_scatter(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const size_t count = (operands.size() - 1) / 2;
  const ScatterDims& dims = inst.attrs().scatter;
  const Literal indices = operands[count];
  const auto parameters = inst.body()->parameters();
  std::vector<Literal> results, updates;
  for (size_t i = 0; i < count; ++i) {
    const Dtype type = parameters[i]->shape.dtype;  // the body may promote
    Literal operand = converted(operands[i], type);
    operands[i] = Literal();
    results.push_back(is_exclusive(operand) ? std::move(operand)
                                            : Literal::copy(operand.shape(), operand.bytes()));
    updates.push_back(converted(operands[count + 1 + i], type));
  }
  const WindowIndexing indexing(results[0].shape(), indices.shape(), dims.index_vector_dim,
                                dims.scatter_dims_to_operand_dims, dims.input_batching_dims,
                                dims.scatter_indices_batching_dims);
  if (updates[0].num_elements() > 0) {
    Scatter scatter(evaluator, inst, results, updates);
    std::vector<int64_t> batch(indexing.batch_dims().size(), 0), start;
    do {
      indexing.starts(indices, batch, start);
      NCC_TRY(scatter.window_at(batch, start));
    } while (next_index(batch, indexing.batch_dims()));
  }
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(results)) : results[0];
}

}  // namespace ncc::hlo
