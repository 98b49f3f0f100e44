// A value while the model is being lowered: a tensor, a constant or an iota, seen through an access function.
// Broadcast, transpose, slice, reverse and reshape change the access only; nothing is computed or copied.
//
// Every logical dimension is a mixed-radix number of digits, the most significant first (a dimension of size
// 1 has none). The base's index expressions are affine in the digits. A reshape regroups digits and splits
// one where a new dimension ends inside it, so it is an access exactly when the old and the new sizes have a
// common factoring (DESIGN C1); otherwise it is refused here and the caller makes a view of the stored
// tensor.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ir-formats/penguin/module.h"

namespace ncc::hlo2penguin {

/// Digit ids are numbered within one view; they stand in its expressions as axis ids.
struct Digit {
  affine::AxisId id;
  int64_t extent;  // >= 2
};

/// One dimension, most significant digit first; the product of the extents is its size.
using DigitList = std::vector<Digit>;

class View {
 public:
  /// The whole tensor in its own shape.
  static View tensor(affine::Context& affine, penguin::TensorId id, Dtype dtype,
                     const std::vector<int64_t>& shape);
  /// The raw bits at every index.
  static View scalar(affine::Context& affine, Dtype dtype, uint64_t bits, const std::vector<int64_t>& shape);
  /// constant + sum of coefficient * index over the (dimension, coefficient) terms.
  static View index(affine::Context& affine, Dtype dtype, const std::vector<int64_t>& shape,
                    const std::vector<std::pair<int64_t, int64_t>>& terms, int64_t constant = 0);
  /// The index along `dim`.
  static View iota(affine::Context& affine, Dtype dtype, const std::vector<int64_t>& shape, int64_t dim);

  penguin::Operand::Kind kind() const { return base_.kind; }
  bool is_tensor() const { return base_.kind == penguin::Operand::Kind::Tensor; }
  bool is_scalar() const { return base_.kind == penguin::Operand::Kind::Scalar; }
  Dtype dtype() const { return base_.dtype; }
  penguin::TensorId tensor_id() const { return base_.tensor; }
  uint64_t scalar_bits() const { return base_.scalar; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t num_elements() const;
  const std::vector<DigitList>& dims() const { return dims_; }

  /// Result dimension i is dimension perm[i].
  View transpose(const std::vector<int64_t>& perm) const;
  /// Dimension i becomes result dimension map[i]; the others repeat the value. Sizes agree.
  View broadcast(const std::vector<int64_t>& map, const std::vector<int64_t>& shape) const;
  View reverse(int64_t dim) const;
  /// `count` elements from `start`, `stride` apart (count >= 1). nullopt when the digits of the dimension do
  /// not allow it.
  std::optional<View> slice(int64_t dim, int64_t start, int64_t stride, int64_t count) const;
  std::optional<View> reshape(const std::vector<int64_t>& shape) const;
  /// Dimension `dim` becomes two: position p of `count` and tap t of `taps`, reading element stride * p +
  /// dilation * t. nullopt when the dimension's digits are not one run.
  std::optional<View> window(int64_t dim, int64_t count, int64_t stride, int64_t taps,
                             int64_t dilation) const;

  /// Splits digits so that dimension d has the radices `extents` (a refinement of its own; see `refine`).
  View split(int64_t dim, const std::vector<int64_t>& extents) const;
  /// Joins neighbouring digits of a dimension wherever the base is walked as by one.
  View normalised() const;

  /// Elements are visited in the base tensor's row-major order, all of them: a reshape to any shape is free.
  bool is_dense(const std::vector<int64_t>& tensor_shape) const;

  /// The operand over iteration axes: digits[id] is the axis that plays digit id.
  penguin::Operand operand(const std::vector<affine::AxisId>& axis_of_digit) const;
  affine::AxisId digit_limit() const { return next_digit_; }

 private:
  explicit View(affine::Context& affine) : affine_(&affine) {}
  Digit fresh(int64_t extent) { return {next_digit_++, extent}; }
  DigitList fresh_dim(int64_t size);
  /// Replaces one digit by an expression everywhere.
  void substitute(affine::AxisId digit, affine::Ref by);
  bool joins(const Digit& major, const Digit& minor) const;
  void join_dim(size_t dim);
  bool slice_digits(DigitList& digits, int64_t start, int64_t stride, int64_t count);
  void refill(std::vector<affine::Ref>& expressions) const;

  affine::Context* affine_;
  penguin::Operand base_;  // index / value over digit ids
  std::vector<int64_t> shape_;
  std::vector<DigitList> dims_;
  affine::AxisId next_digit_ = 0;
};

/// The coarsest radices (most significant first) that refine all given ones; nullopt when two have no common
/// factoring.
std::optional<std::vector<int64_t>> refine(const std::vector<std::vector<int64_t>>& radices);

/// The extents of a dimension's digits.
std::vector<int64_t> radices(const DigitList& digits);

}  // namespace ncc::hlo2penguin
