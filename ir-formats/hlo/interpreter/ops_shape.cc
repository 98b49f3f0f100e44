// Constants, iota and data movement. Each op is one strided copy. Source: spec/stablehlo-text.md §3.6.
#include <algorithm>

#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// Copies all of `out` from a strided view of `operand`.
Literal gathered(const Literal& operand, const Shape& shape, const std::vector<int64_t>& strides,
                 int64_t offset) {
  Literal out = Literal::zeros(Shape::array(operand.shape().dtype, shape.dims));
  const int64_t width = size_bytes(operand.shape().dtype);
  strided_copy(width, shape.dims, operand.bytes().data() + offset * width, strides, out.mutable_data(),
               row_major_strides(shape.dims));
  return out;
}

}  // namespace

Result<Literal> eval_constant(Evaluator&, const Instruction& inst, Operands&) {
  if (!inst.literal.is_valid()) return unsupported(inst, "its value is elided");
  return inst.literal;
}

Result<Literal> eval_iota(Evaluator&, const Instruction& inst, Operands&) {
  const int64_t dim = inst.dimensions.empty() ? 0 : inst.dimensions[0];
  const int64_t size = inst.shape.rank() == 0 ? 1 : inst.shape.dims[static_cast<size_t>(dim)];
  Literal counts = Literal::zeros(Shape::array(Dtype::S64, {size}));
  for (int64_t i = 0; i < size; ++i) reinterpret_cast<int64_t*>(counts.mutable_data())[i] = i;
  counts = converted(counts, inst.shape.dtype);
  std::vector<int64_t> strides(inst.shape.dims.size(), 0);
  if (!strides.empty()) strides[static_cast<size_t>(dim)] = 1;
  return gathered(counts, inst.shape, strides, 0);
}

Result<Literal> eval_reshape(Evaluator&, const Instruction& inst, Operands& operands) {
  return reshaped(operands[0], Shape::array(operands[0].shape().dtype, inst.shape.dims));
}

Result<Literal> eval_bitcast(Evaluator&, const Instruction& inst, Operands& operands) {
  if (inst.shape.size_bytes() != operands[0].shape().size_bytes())
    return unsupported(inst, "operand and result have different byte sizes");
  return reshaped(operands[0], inst.shape);
}

Result<Literal> eval_bitcast_convert(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& from = operands[0].shape();
  // A predicate is one bit here, whatever it takes in memory.
  const auto bits_of = [](Dtype type) { return type == Dtype::Pred ? 1 : info(type).bits; };
  const int from_bits = bits_of(from.dtype), to_bits = bits_of(inst.shape.dtype);
  if (from_bits == to_bits || (from_bits >= 8 && to_bits >= 8))
    return reshaped(operands[0], Shape::array(inst.shape.dtype, inst.shape.dims));
  // Sub-byte types take a byte per element in memory: move the bits themselves, least significant part first.
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, inst.shape.dims));
  const auto read_bit = [&](int64_t bit) {
    const int64_t element = bit / from_bits, within = bit % from_bits;
    const int64_t byte = element * size_bytes(from.dtype) + within / 8;
    return (std::to_integer<int>(operands[0].bytes()[static_cast<size_t>(byte)]) >> (within % 8)) & 1;
  };
  for (int64_t bit = 0; bit < out.num_elements() * to_bits; ++bit) {
    const int64_t byte = bit / to_bits * size_bytes(inst.shape.dtype) + bit % to_bits / 8;
    out.mutable_data()[byte] |= static_cast<std::byte>(read_bit(bit) << (bit % to_bits % 8));
  }
  return out;
}

Result<Literal> eval_broadcast(Evaluator&, const Instruction& inst, Operands& operands) {
  const std::vector<int64_t>& from = operands[0].shape().dims;
  const std::vector<int64_t> source = row_major_strides(from);
  std::vector<int64_t> strides(inst.shape.dims.size(), 0);
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[static_cast<size_t>(inst.dimensions[d])] = source[d];
  }
  return gathered(operands[0], inst.shape, strides, 0);
}

Result<Literal> eval_transpose(Evaluator&, const Instruction& inst, Operands& operands) {
  const std::vector<int64_t> source = row_major_strides(operands[0].shape().dims);
  std::vector<int64_t> strides;
  for (int64_t d : inst.dimensions) strides.push_back(source[static_cast<size_t>(d)]);
  return gathered(operands[0], inst.shape, strides, 0);
}

Result<Literal> eval_slice(Evaluator&, const Instruction& inst, Operands& operands) {
  std::vector<int64_t> strides = row_major_strides(operands[0].shape().dims);
  const Attributes& attrs = inst.attrs();
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    offset += attrs.slice_starts[d] * strides[d];
    if (d < attrs.slice_strides.size()) strides[d] *= attrs.slice_strides[d];
  }
  return gathered(operands[0], inst.shape, strides, offset);
}

Result<Literal> eval_reverse(Evaluator&, const Instruction& inst, Operands& operands) {
  const std::vector<int64_t>& dims = operands[0].shape().dims;
  std::vector<int64_t> strides = row_major_strides(dims);
  if (operands[0].num_elements() == 0) return operands[0];
  int64_t offset = 0;
  for (int64_t d : inst.dimensions) {
    int64_t& stride = strides[static_cast<size_t>(d)];
    offset += (dims[static_cast<size_t>(d)] - 1) * stride;
    stride = -stride;
  }
  return gathered(operands[0], inst.shape, strides, offset);
}

// Interior padding first, then the edges; a negative edge crops: only the operand elements that land inside
// are copied.
Result<Literal> eval_pad(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& from = operands[0].shape();
  const int64_t width = size_bytes(from.dtype);
  Literal out = Literal::zeros(Shape::array(from.dtype, inst.shape.dims));
  fill_elements(out.mutable_data(), operands[1].bytes().data(), width, out.num_elements());
  const std::vector<int64_t> source = row_major_strides(from.dims),
                             target = row_major_strides(inst.shape.dims);
  std::vector<int64_t> count, steps;
  int64_t from_offset = 0, to_offset = 0;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const PaddingDim& pad = inst.attrs().padding[d];
    const int64_t step = pad.interior + 1;
    // Element i lands at low + i * step; keep those within [0, size).
    const int64_t first = pad.low >= 0 ? 0 : (-pad.low + step - 1) / step;
    const int64_t last =
        std::min(from.dims[d] - 1,
                 inst.shape.dims[d] - 1 - pad.low < 0 ? -1 : (inst.shape.dims[d] - 1 - pad.low) / step);
    if (last < first) return out;
    count.push_back(last - first + 1);
    steps.push_back(target[d] * step);
    from_offset += first * source[d];
    to_offset += (pad.low + first * step) * target[d];
  }
  strided_copy(width, count, operands[0].bytes().data() + from_offset * width, source,
               out.mutable_data() + to_offset * width, steps);
  return out;
}

Result<Literal> eval_concatenate(Evaluator&, const Instruction& inst, Operands& operands) {
  const size_t dim = static_cast<size_t>(inst.dimensions[0]);
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, inst.shape.dims));
  const int64_t width = size_bytes(inst.shape.dtype);
  const std::vector<int64_t> target = row_major_strides(inst.shape.dims);
  int64_t position = 0;
  for (const Literal& operand : operands) {
    const std::vector<int64_t>& dims = operand.shape().dims;
    strided_copy(width, dims, operand.bytes().data(), row_major_strides(dims),
                 out.mutable_data() + position * target[dim] * width, target);
    position += dims[dim];
  }
  return out;
}

Result<Literal> eval_identity(Evaluator&, const Instruction&, Operands& operands) {
  return std::move(operands[0]);
}

Result<Literal> eval_get_dimension_size(Evaluator&, const Instruction& inst, Operands& operands) {
  const size_t dim = static_cast<size_t>(inst.dimensions.empty() ? 0 : inst.dimensions[0]);
  return Literal::scalar_int(Dtype::S32, operands[0].shape().dims[dim]);
}

// Only the size that the array has anyway; true dynamic sizes are not represented.
// The first elements; more than there are is filled with zeros.
Result<Literal> eval_set_dimension_size(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& from = operands[0].shape();
  const size_t dim = static_cast<size_t>(inst.dimensions.empty() ? 0 : inst.dimensions[0]);
  if (operands[1].as_int64(0) != inst.shape.dims[dim]) return unsupported(inst, "the size is dynamic");
  if (from.dims == inst.shape.dims) return operands[0];
  std::vector<int64_t> common = inst.shape.dims;
  for (size_t d = 0; d < common.size(); ++d) common[d] = std::min(common[d], from.dims[d]);
  Literal out = Literal::zeros(Shape::array(from.dtype, inst.shape.dims));
  strided_copy(size_bytes(from.dtype), common, operands[0].bytes().data(), row_major_strides(from.dims),
               out.mutable_data(), row_major_strides(inst.shape.dims));
  return out;
}

}  // namespace ncc::hlo
