// Data-dependent slices: dynamic-slice, dynamic-update-slice, gather. Source: spec/stablehlo-text.md §3.6.
#include <algorithm>
#include <limits>

#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// Offset of a window of `sizes` whose starts are operands first, first + 1, …, clamped into the array.
int64_t clamped_offset(const std::vector<int64_t>& dims, const std::vector<int64_t>& sizes,
                       const Operands& operands, size_t first) {
  const std::vector<int64_t> strides = row_major_strides(dims);
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t start = index_value(operands[first + d], 0);
    offset += std::clamp<int64_t>(start, 0, dims[d] - sizes[d]) * strides[d];
  }
  return offset;
}

}  // namespace

int64_t index_value(const Literal& indices, int64_t position) {
  const int64_t value = indices.as_int64(position);
  const bool huge = indices.shape().dtype == Dtype::U64 && value < 0;
  return huge ? std::numeric_limits<int64_t>::max() : value;
}

Result<Literal> eval_dynamic_slice(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& from = operands[0].shape();
  const std::vector<int64_t>& sizes = inst.shape.dims;
  const int64_t width = size_bytes(from.dtype);
  Literal out = Literal::zeros(Shape::array(from.dtype, sizes));
  if (out.num_elements() == 0) return out;
  strided_copy(width, sizes,
               operands[0].bytes().data() + clamped_offset(from.dims, sizes, operands, 1) * width,
               row_major_strides(from.dims), out.mutable_data(), row_major_strides(sizes));
  return out;
}

// In place when nobody else holds the operand: a loop that fills an array slice by slice stays linear.
Result<Literal> eval_dynamic_update_slice(Evaluator&, const Instruction&, Operands& operands) {
  const std::vector<int64_t> dims = operands[0].shape().dims;
  const std::vector<int64_t>& sizes = operands[1].shape().dims;
  const int64_t width = size_bytes(operands[0].shape().dtype);
  const int64_t offset = clamped_offset(dims, sizes, operands, 2);
  Literal out = is_exclusive(operands[0]) ? std::move(operands[0])
                                          : Literal::copy(operands[0].shape(), operands[0].bytes());
  strided_copy(width, sizes, operands[1].bytes().data(), row_major_strides(sizes),
               out.mutable_data() + offset * width, row_major_strides(dims));
  return out;
}

WindowIndexing::WindowIndexing(const Shape& operand, const Shape& indices, int64_t index_vector_dim,
                               std::vector<int64_t> index_map, std::vector<int64_t> operand_batching,
                               std::vector<int64_t> indices_batching)
    : index_map_(std::move(index_map)),
      operand_batching_(std::move(operand_batching)),
      indices_strides_(row_major_strides(indices.dims)) {
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == index_vector_dim) continue;
    batch_dims_.push_back(indices.dims[static_cast<size_t>(d)]);
    batch_strides_.push_back(indices_strides_[static_cast<size_t>(d)]);
  }
  vector_stride_ =
      index_vector_dim < indices.rank() ? indices_strides_[static_cast<size_t>(index_vector_dim)] : 0;
  for (int64_t d : indices_batching) batching_position_.push_back(d < index_vector_dim ? d : d - 1);
  rank_ = operand.dims.size();
}

void WindowIndexing::starts(const Literal& indices, const std::vector<int64_t>& batch,
                            std::vector<int64_t>& start) const {
  start.assign(rank_, 0);
  int64_t offset = 0;
  for (size_t b = 0; b < batch.size(); ++b) offset += batch[b] * batch_strides_[b];
  for (size_t k = 0; k < index_map_.size(); ++k)
    start[static_cast<size_t>(index_map_[k])] =
        index_value(indices, offset + static_cast<int64_t>(k) * vector_stride_);
  for (size_t k = 0; k < operand_batching_.size(); ++k)
    start[static_cast<size_t>(operand_batching_[k])] = batch[static_cast<size_t>(batching_position_[k])];
}

Literal gather(const Literal& operand, const Literal& indices, const GatherDims& dims,
               const std::vector<int64_t>& slice_sizes, const std::vector<int64_t>& out_dims) {
  const WindowIndexing indexing(operand.shape(), indices.shape(), dims.index_vector_dim, dims.start_index_map,
                                dims.operand_batching_dims, dims.start_indices_batching_dims);
  const auto listed = [](const std::vector<int64_t>& list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  const std::vector<int64_t> source = row_major_strides(operand.shape().dims),
                             target = row_major_strides(out_dims);
  // The window: operand dims that survive, in order, against the result's offset dims.
  std::vector<int64_t> window, window_source, window_target, batch_target;
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (listed(dims.collapsed_slice_dims, d) || listed(dims.operand_batching_dims, d)) continue;
    window.push_back(slice_sizes[static_cast<size_t>(d)]);
    window_source.push_back(source[static_cast<size_t>(d)]);
  }
  for (size_t d = 0; d < out_dims.size(); ++d)
    (listed(dims.offset_dims, static_cast<int64_t>(d)) ? window_target : batch_target).push_back(target[d]);
  const int64_t width = size_bytes(operand.shape().dtype);
  Literal out = Literal::zeros(Shape::array(operand.shape().dtype, out_dims));
  if (out.num_elements() == 0) return out;
  int64_t window_elements = 1;
  for (int64_t size : window) window_elements *= size;
  std::vector<int64_t> batch(indexing.batch_dims().size(), 0), start;
  do {
    indexing.starts(indices, batch, start);
    int64_t from = 0, to = 0;
    for (size_t d = 0; d < start.size(); ++d)
      from += std::clamp<int64_t>(start[d], 0, operand.shape().dims[d] - slice_sizes[d]) * source[d];
    for (size_t b = 0; b < batch.size(); ++b) to += batch[b] * batch_target[b];
    const std::byte* src = operand.bytes().data() + from * width;
    std::byte* dst = out.mutable_data() + to * width;
    if (window_elements == 1)
      std::memcpy(dst, src, static_cast<size_t>(width));
    else
      strided_copy(width, window, src, window_source, dst, window_target);
  } while (next_index(batch, indexing.batch_dims()));
  return out;
}

Result<Literal> eval_gather(Evaluator&, const Instruction& inst, Operands& operands) {
  return gather(operands[0], operands[1], inst.attrs().gather, inst.attrs().slice_sizes, inst.shape.dims);
}

}  // namespace ncc::hlo
