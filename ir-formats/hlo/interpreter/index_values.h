// Index algebra shared by gather and scatter: from a position in the index array to the window's start in the
// operand.
#pragma once
#include <vector>

#include "ir-formats/hlo/attributes.h"
#include "ir-formats/hlo/literal.h"

namespace ncc::hlo {

/// An index element; unsigned values beyond int64 become its maximum.
int64_t index_value(const Literal& indices, int64_t position);

/// `batch` below is a position in the index array without its index vector dimension.
class WindowIndexing {
 public:
  WindowIndexing(const Shape& operand, const Shape& indices, int64_t index_vector_dim,
                 std::vector<int64_t> index_map, std::vector<int64_t> operand_batching,
                 std::vector<int64_t> indices_batching);

  const std::vector<int64_t>& batch_dims() const { return batch_dims_; }
  /// The start index of each operand dimension, not clamped; 0 where no index applies.
  void starts(const Literal& indices, const std::vector<int64_t>& batch, std::vector<int64_t>& start) const;

 private:
  std::vector<int64_t> index_map_, operand_batching_, indices_strides_;
  std::vector<int64_t> batch_dims_, batch_strides_, batching_position_;
  int64_t vector_stride_ = 0;
  size_t rank_ = 0;
};

/// The gather of these dimension numbers; windows are clamped into the operand.
Literal gather(const Literal& operand, const Literal& indices, const GatherDims& dims,
               const std::vector<int64_t>& slice_sizes, const std::vector<int64_t>& out_dims);

}  // namespace ncc::hlo
