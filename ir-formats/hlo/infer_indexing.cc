#include <algorithm>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

// One integer scalar per dimension, all of one type, from operand `first` on.
Status check_start_indices(const Instruction& inst, int64_t first, std::string_view count_label,
                           std::string_view label) {
  const int64_t rank = inst.operand_shape(0).rank();
  if (inst.num_operands() - first != rank)
    return mismatch(inst, count_label, "number of start indices", inst.num_operands() - first, rank);
  for (int64_t i = first; i < inst.num_operands(); ++i) {
    const Shape& index = inst.operand_shape(i);
    if (!index.is_scalar() || !is_integer(index.dtype) || index.dtype != inst.operand_shape(first).dtype)
      return mismatch(inst, label, fmt::format("start index {}", i - first), to_string(index),
                      "integer scalars of one type");
  }
  return Status::ok();
}

Result<Shape> infer_dynamic_slice(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  NCC_TRY(check_start_indices(inst, 1, "dynamic_slice_c2", "dynamic_slice_c3"));
  const auto& sizes = inst.attrs().slice_sizes;
  if (static_cast<int64_t>(sizes.size()) != operand.rank())
    return mismatch(inst, "dynamic_slice_c2", "number of slice sizes", sizes.size(), operand.rank());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || sizes[d] > operand.dims[d])
      return mismatch(inst, "dynamic_slice_c4", fmt::format("slice size of dimension {}", d), sizes[d],
                      fmt::format("0 to {}", operand.dims[d]));
  }
  return Shape::array(operand.dtype, sizes);
}

Result<Shape> infer_dynamic_update_slice(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const Shape& update = inst.operand_shape(1);
  NCC_TRY(check_start_indices(inst, 2, "dynamic_update_slice_c4", "dynamic_update_slice_c5"));
  if (update.dtype != operand.dtype)
    return mismatch(inst, "dynamic_update_slice_c2", "element type of the update", info(update.dtype).hlo,
                    info(operand.dtype).hlo);
  if (update.rank() != operand.rank())
    return mismatch(inst, "dynamic_update_slice_c3", "rank of the update", update.rank(), operand.rank());
  for (size_t d = 0; d < update.dims.size(); ++d) {
    if (update.dims[d] > operand.dims[d])
      return mismatch(inst, "dynamic_update_slice_c6", fmt::format("update size of dimension {}", d),
                      update.dims[d], fmt::format("at most {}", operand.dims[d]));
  }
  return Shape::array(operand.dtype, operand.dims);
}

// Dimensions of the indices without the one that holds the index vector; its size is `vector_size`.
Status batch_dims(const Instruction& inst, const Shape& indices, int64_t index_vector_dim,
                  std::string_view label, std::vector<int64_t>* batch, int64_t* vector_size) {
  if (index_vector_dim < 0 || index_vector_dim > indices.rank())
    return mismatch(inst, label, "index_vector_dim", index_vector_dim,
                    fmt::format("0 to {}", indices.rank()));
  if (!is_integer(indices.dtype))
    return mismatch(inst, label, "indices", to_string(indices), "an integer array");
  *vector_size = index_vector_dim == indices.rank() ? 1 : indices.dims[at(index_vector_dim)];
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != index_vector_dim) batch->push_back(indices.dims[at(d)]);
  }
  return Status::ok();
}

// Labels of the constraints on paired batching dimensions.
struct BatchingLabels {
  std::string_view count, in_range, unique, not_vector, sizes;
};
Status check_batching_pairs(const Instruction& inst, const Shape& operand,
                            const std::vector<int64_t>& operand_dims, const Shape& indices,
                            const std::vector<int64_t>& index_dims, int64_t index_vector_dim,
                            const BatchingLabels& labels) {
  if (operand_dims.size() != index_dims.size())
    return mismatch(inst, labels.count, "number of batching dimensions of the indices", index_dims.size(),
                    operand_dims.size());
  NCC_TRY(check_dims(inst, index_dims, indices.rank(), labels.in_range, labels.unique,
                     "batching dimensions of the indices"));
  if (contains(index_dims, index_vector_dim))
    return mismatch(inst, labels.not_vector, "batching dimensions of the indices", dims_text(index_dims),
                    fmt::format("none that is the index_vector_dim {}", index_vector_dim));
  for (size_t i = 0; i < operand_dims.size(); ++i) {
    const int64_t left = operand.dims[at(operand_dims[i])], right = indices.dims[at(index_dims[i])];
    if (left != right)
      return mismatch(inst, labels.sizes, fmt::format("sizes of batching pair {}", i),
                      fmt::format("{} and {}", left, right), "equal ones");
  }
  return Status::ok();
}

Result<Shape> infer_gather(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const Shape& indices = inst.operand_shape(1);
  const GatherDims& g = inst.attrs().gather;
  const auto& sizes = inst.attrs().slice_sizes;
  std::vector<int64_t> batch;
  int64_t vector_size = 0;
  NCC_TRY(batch_dims(inst, indices, g.index_vector_dim, "gather_c2", &batch, &vector_size));
  if (static_cast<int64_t>(sizes.size()) != operand.rank())
    return mismatch(inst, "gather_c20", "number of slice sizes", sizes.size(), operand.rank());
  if (static_cast<int64_t>(g.start_index_map.size()) != vector_size)
    return mismatch(inst, "gather_c3", "length of start_index_map", g.start_index_map.size(), vector_size);
  NCC_TRY(check_dims(inst, joined(g.start_index_map, g.operand_batching_dims), operand.rank(), "gather_c19",
                     "gather_c18", "start_index_map and operand_batching_dims"));
  NCC_TRY(check_dims(inst, g.operand_batching_dims, operand.rank(), "gather_c11", "gather_c6",
                     "operand_batching_dims"));
  NCC_TRY(check_dims(inst, joined(g.collapsed_slice_dims, g.operand_batching_dims), operand.rank(),
                     "gather_c8", "gather_c6", "collapsed_slice_dims and operand_batching_dims"));
  NCC_TRY(check_sorted(inst, g.collapsed_slice_dims, "gather_c7", "collapsed_slice_dims"));
  NCC_TRY(check_sorted(inst, g.operand_batching_dims, "gather_c10", "operand_batching_dims"));
  NCC_TRY(check_batching_pairs(inst, operand, g.operand_batching_dims, indices, g.start_indices_batching_dims,
                               g.index_vector_dim,
                               {"gather_c16", "gather_c14", "gather_c13", "gather_c15", "gather_c17"}));
  std::vector<int64_t> offsets;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[at(d)] < 0 || sizes[at(d)] > operand.dims[at(d)])
      return mismatch(inst, "gather_c21", fmt::format("slice size of dimension {}", d), sizes[at(d)],
                      fmt::format("0 to {}", operand.dims[at(d)]));
    const bool collapsed = contains(g.collapsed_slice_dims, d);
    const bool dropped = collapsed || contains(g.operand_batching_dims, d);
    if (dropped && sizes[at(d)] > 1)
      return mismatch(inst, collapsed ? "gather_c9" : "gather_c12",
                      fmt::format("slice size of dropped dimension {}", d), sizes[at(d)], "at most 1");
    if (!dropped) offsets.push_back(sizes[at(d)]);
  }
  if (offsets.size() != g.offset_dims.size())
    return mismatch(inst, "gather_c1", "number of offset_dims", g.offset_dims.size(), offsets.size());
  const int64_t rank = static_cast<int64_t>(offsets.size() + batch.size());
  NCC_TRY(check_dims(inst, g.offset_dims, rank, "gather_c5", "gather_c4", "offset_dims"));
  NCC_TRY(check_sorted(inst, g.offset_dims, "gather_c4", "offset_dims"));
  std::vector<int64_t> dims;
  size_t next_offset = 0, next_batch = 0;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(contains(g.offset_dims, d) ? offsets[next_offset++] : batch[next_batch++]);
  Shape shape = Shape::array(operand.dtype, dims);
  shape.quantization = operand.quantization;
  return shape;
}

// Update windows: sizes of the window dimensions fit the input's kept dimensions, the rest are the indices'
// batch dims.
Status check_update(const Instruction& inst, const Shape& input, const Shape& update,
                    const std::vector<int64_t>& batch) {
  const ScatterDims& s = inst.attrs().scatter;
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (!contains(s.inserted_window_dims, d) && !contains(s.input_batching_dims, d))
      kept.push_back(input.dims[at(d)]);
  }
  if (kept.size() != s.update_window_dims.size())
    return mismatch(inst, "scatter_c2", "number of update_window_dims", s.update_window_dims.size(),
                    kept.size());
  if (update.rank() != static_cast<int64_t>(batch.size() + s.update_window_dims.size()))
    return mismatch(inst, "scatter_c4", "rank of the updates", update.rank(),
                    batch.size() + s.update_window_dims.size());
  NCC_TRY(check_dims(inst, s.update_window_dims, update.rank(), "scatter_c8", "scatter_c7",
                     "update_window_dims"));
  NCC_TRY(check_sorted(inst, s.update_window_dims, "scatter_c7", "update_window_dims"));
  size_t next_kept = 0, next_batch = 0;
  for (int64_t d = 0; d < update.rank(); ++d) {
    const int64_t size = update.dims[at(d)];
    if (contains(s.update_window_dims, d)) {
      if (size > kept[next_kept])
        return mismatch(inst, "scatter_c4", fmt::format("update window dimension {}", d), size,
                        fmt::format("at most {}", kept[next_kept]));
      ++next_kept;
    } else if (size != batch[next_batch++]) {
      return mismatch(inst, "scatter_c4", fmt::format("update dimension {}", d), size, batch[next_batch - 1]);
    }
  }
  return Status::ok();
}

Result<Shape> infer_scatter(const Instruction& inst) {
  if (inst.num_operands() % 2 == 0)
    return mismatch(inst, "scatter_c5", "number of operands", inst.num_operands(), "an odd one");
  const int64_t n = inst.num_operands() / 2;
  const ScatterDims& s = inst.attrs().scatter;
  const Shape& input = inst.operand_shape(0);
  const Shape& indices = inst.operand_shape(n);
  std::vector<int64_t> batch;
  int64_t vector_size = 0;
  NCC_TRY(batch_dims(inst, indices, s.index_vector_dim, "scatter_c22", &batch, &vector_size));
  if (static_cast<int64_t>(s.scatter_dims_to_operand_dims.size()) != vector_size)
    return mismatch(inst, "scatter_c19", "length of scatter_dims_to_operand_dims",
                    s.scatter_dims_to_operand_dims.size(), vector_size);
  NCC_TRY(check_dims(inst, joined(s.scatter_dims_to_operand_dims, s.input_batching_dims), input.rank(),
                     "scatter_c21", "scatter_c20", "scatter_dims_to_operand_dims and input_batching_dims"));
  NCC_TRY(check_dims(inst, s.input_batching_dims, input.rank(), "scatter_c13", "scatter_c9",
                     "input_batching_dims"));
  NCC_TRY(check_dims(inst, joined(s.inserted_window_dims, s.input_batching_dims), input.rank(), "scatter_c11",
                     "scatter_c9", "inserted_window_dims and input_batching_dims"));
  NCC_TRY(check_sorted(inst, s.inserted_window_dims, "scatter_c10", "inserted_window_dims"));
  NCC_TRY(check_sorted(inst, s.input_batching_dims, "scatter_c12", "input_batching_dims"));
  NCC_TRY(check_batching_pairs(inst, input, s.input_batching_dims, indices, s.scatter_indices_batching_dims,
                               s.index_vector_dim,
                               {"scatter_c17", "scatter_c15", "scatter_c14", "scatter_c16", "scatter_c18"}));
  for (int64_t i = 0; i < n; ++i) {
    if (!same_dims(inst.operand_shape(i), input))
      return mismatch(inst, "scatter_c1", fmt::format("input {}", i), to_string(inst.operand_shape(i)),
                      dims_text(input.dims));
    if (!same_dims(inst.operand_shape(n + 1 + i), inst.operand_shape(n + 1)))
      return mismatch(inst, "scatter_c3", fmt::format("updates {}", i),
                      to_string(inst.operand_shape(n + 1 + i)), dims_text(inst.operand_shape(n + 1).dims));
    if (inst.operand_shape(n + 1 + i).dtype != inst.operand_shape(i).dtype)
      return mismatch(inst, "scatter_c6", fmt::format("element type of updates {}", i),
                      info(inst.operand_shape(n + 1 + i).dtype).hlo, info(inst.operand_shape(i).dtype).hlo);
  }
  NCC_TRY(check_update(inst, input, inst.operand_shape(n + 1), batch));
  NCC_TRY(check_scalar_body(inst, *inst.body(), 2 * n, n, "scatter_c23"));
  // The body's result types are the results' (scatter_c25): it may be wider than the inputs.
  const Shape& root = inst.body()->root()->shape;
  std::vector<Shape> results;
  for (int64_t i = 0; i < n; ++i)
    results.push_back(Shape::array((root.is_tuple() ? root.elements[at(i)] : root).dtype, input.dims));
  return as_results(std::move(results));
}

}  // namespace

Result<Shape> infer_indexing(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::DynamicSlice:
      return infer_dynamic_slice(inst);
    case Opcode::DynamicUpdateSlice:
      return infer_dynamic_update_slice(inst);
    case Opcode::Gather:
      return infer_gather(inst);
    case Opcode::Scatter:
      return infer_scatter(inst);
    case Opcode::TorchIndexSelect:
      if (!is_integer(inst.operand_shape(1).dtype))
        return mismatch(inst, "torch_index_select", "index", to_string(inst.operand_shape(1)),
                        "an integer array");
      return inst.shape;
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
