// convolution as a matrix product: per output image and group, the input patches become columns [input
// feature x taps, output positions]. Positions that fall on padding or between dilated elements are zero.
// Source: spec/stablehlo-text.md §3.8.
#include <algorithm>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/product.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// The operand permuted to `order` and converted.
Literal permuted(const Literal& operand, const std::vector<int64_t>& order, Dtype type,
                 const std::vector<bool>& reversed) {
  const std::vector<int64_t> source = row_major_strides(operand.shape().dims);
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t d = static_cast<size_t>(order[i]);
    dims.push_back(operand.shape().dims[d]);
    strides.push_back(reversed[i] ? -source[d] : source[d]);
    if (reversed[i]) offset += (dims.back() - 1) * source[d];
  }
  Literal out = Literal::zeros(Shape::array(operand.shape().dtype, dims));
  const int64_t width = size_bytes(operand.shape().dtype);
  if (out.num_elements() > 0)
    strided_copy(width, dims, operand.bytes().data() + offset * width, strides, out.mutable_data(),
                 row_major_strides(dims));
  return converted(out, type);
}

std::vector<int64_t> order_of(int64_t first, int64_t second, const std::vector<int64_t>& spatial) {
  std::vector<int64_t> order = {first, second};
  order.insert(order.end(), spatial.begin(), spatial.end());
  return order;
}

// Input and kernel as [batch, feature, spatial…] and [out feature, in feature, taps…].
class Convolution {
 public:
  Convolution(const Instruction& inst, Literal input, Literal kernel, Dtype type)
      : window_(inst.attrs().window), input_(std::move(input)), kernel_(std::move(kernel)), type_(type) {
    const ConvDims& dims = *inst.attrs().conv;
    in_spatial_.assign(input_.shape().dims.begin() + 2, input_.shape().dims.end());
    taps_.assign(kernel_.shape().dims.begin() + 2, kernel_.shape().dims.end());
    for (int64_t d : dims.output_spatial) out_spatial_.push_back(inst.shape.dims[static_cast<size_t>(d)]);
    for (int64_t size : out_spatial_) positions_ *= size;
    for (int64_t size : in_spatial_) pixels_ *= size;
    for (int64_t size : taps_) tap_count_ *= size;
    for (size_t d = 0; d < window_.size(); ++d) positions_of_taps(d);
  }

  // Output [batch / batch groups, out features, positions].
  Literal run(int64_t feature_groups, int64_t batch_groups) {
    const int64_t batch = input_.shape().dims[0] / batch_groups, features = kernel_.shape().dims[0];
    const int64_t groups = std::max(feature_groups, batch_groups), per_group = features / groups;
    const int64_t depth = kernel_.shape().dims[1];
    Literal out = Literal::zeros(Shape::array(type_, {batch, features, positions_}));
    const int64_t width = size_bytes(type_), rows = depth * tap_count_;
    if (rows == 0 || positions_ == 0) return out;
    std::vector<std::byte> columns(static_cast<size_t>(rows * positions_ * width));
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t image = batch_groups > 1 ? g * batch + n : n;
        const int64_t first_feature = feature_groups > 1 ? g * depth : 0;
        fill_columns(image, first_feature, depth, columns.data());
        multiply({.m = per_group,
                  .n = positions_,
                  .k = rows,
                  .a = kernel_.bytes().data() + g * per_group * rows * width,
                  .b = columns.data(),
                  .c = out.mutable_data() + (n * features + g * per_group) * positions_ * width},
                 type_);
      }
    }
    return out;
  }

 private:
  void positions_of_taps(size_t d) {
    const WindowDim& dim = window_[d];
    std::vector<int64_t> table;
    for (int64_t tap = 0; tap < taps_[d]; ++tap) {
      for (int64_t out = 0; out < out_spatial_[d]; ++out) {
        const int64_t position = out * dim.stride - dim.padding_low + tap * dim.window_dilation;
        const bool on_element = position >= 0 && position % dim.base_dilation == 0 &&
                                position / dim.base_dilation < in_spatial_[d];
        table.push_back(on_element ? position / dim.base_dilation : -1);
      }
    }
    table_.push_back(std::move(table));
  }

  void fill_columns(int64_t image, int64_t first_feature, int64_t depth, std::byte* columns) const {
    const int64_t width = size_bytes(type_), features = input_.shape().dims[1];
    parallel_for(depth, 1, [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        const std::byte* plane =
            input_.bytes().data() + (image * features + first_feature + f) * pixels_ * width;
        std::vector<int64_t> tap(taps_.size(), 0);
        std::byte* row = columns + f * tap_count_ * positions_ * width;
        do {
          fill_row(0, tap, plane, 0, row, width);
          row += positions_ * width;
        } while (next_index(tap, taps_));
      }
    });
  }

  // One tap's value at every output position, from spatial dimension d inwards.
  void fill_row(size_t d, const std::vector<int64_t>& tap, const std::byte* plane, int64_t offset,
                std::byte* row, int64_t width) const {
    if (d == taps_.size()) {
      std::memcpy(row, plane + offset * width, static_cast<size_t>(width));
      return;
    }
    int64_t below_out = 1, below_in = 1;
    for (size_t i = d + 1; i < taps_.size(); ++i) below_out *= out_spatial_[i];
    for (size_t i = d + 1; i < taps_.size(); ++i) below_in *= in_spatial_[i];
    const int64_t* table = table_[d].data() + tap[d] * out_spatial_[d];
    for (int64_t out = 0; out < out_spatial_[d]; ++out) {
      std::byte* to = row + out * below_out * width;
      if (table[out] < 0) {
        std::memset(to, 0, static_cast<size_t>(below_out * width));
      } else if (d + 1 == taps_.size() && width == 8) {
        std::memcpy(to, plane + (offset + table[out]) * 8, 8);
      } else {
        fill_row(d + 1, tap, plane, offset + table[out] * below_in, to, width);
      }
    }
  }

  const Window& window_;
  Literal input_, kernel_;
  Dtype type_;
  std::vector<int64_t> in_spatial_, taps_, out_spatial_;
  int64_t positions_ = 1, pixels_ = 1, tap_count_ = 1;
  std::vector<std::vector<int64_t>>
      table_;  // per spatial dimension: [tap, output position] -> input position or -1
};

}  // namespace

Result<Literal> eval_convolution(Evaluator&, const Instruction& inst, Operands& operands) {
  if (!inst.attrs().conv) return unsupported(inst, "it has no dimension numbers");
  const ConvDims& dims = *inst.attrs().conv;
  const Window& window = inst.attrs().window;
  std::vector<bool> reversed(window.size() + 2, false), straight(window.size() + 2, false);
  for (size_t d = 0; d < window.size(); ++d) reversed[d + 2] = window[d].reversal;
  double work = static_cast<double>(inst.shape.num_elements());
  for (const WindowDim& dim : window) work *= static_cast<double>(dim.size);
  work *= static_cast<double>(operands[1].shape().dims[static_cast<size_t>(dims.kernel_input_feature)]);
  const Dtype type =
      product_type(operands[0].shape().dtype, operands[1].shape().dtype, inst.shape.dtype, work);
  Literal input = permuted(operands[0], order_of(dims.input_batch, dims.input_feature, dims.input_spatial),
                           type, straight);
  Literal kernel = permuted(
      operands[1], order_of(dims.kernel_output_feature, dims.kernel_input_feature, dims.kernel_spatial), type,
      reversed);
  operands.clear();
  Literal out = Convolution(inst, std::move(input), std::move(kernel), type)
                    .run(inst.attrs().feature_group_count, inst.attrs().batch_group_count);
  // [batch, feature, spatial…] to the result's order.
  const std::vector<int64_t> order = order_of(dims.output_batch, dims.output_feature, dims.output_spatial);
  std::vector<int64_t> canonical, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    canonical.push_back(inst.shape.dims[static_cast<size_t>(order[i])]);
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  out = reshaped(out, Shape::array(type, canonical));
  return permuted(out, inverse, inst.shape.dtype, straight);
}

}  // namespace ncc::hlo
