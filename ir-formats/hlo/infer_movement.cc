#include <algorithm>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

Shape array(Dtype dtype, std::vector<int64_t> dims) { return Shape::array(dtype, std::move(dims)); }

// Result of a data movement: the operand's element type with new dimensions.
Shape moved(const Instruction& inst, std::vector<int64_t> dims) {
  Shape shape = array(inst.operand_shape(0).dtype, std::move(dims));
  shape.quantization = inst.operand_shape(0).quantization;
  return shape;
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

Result<Shape> infer_broadcast(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const Shape& result = inst.shape;
  if (static_cast<int64_t>(inst.dimensions.size()) != operand.rank())
    return mismatch(inst, "broadcast_in_dim_c2", "number of dimensions", inst.dimensions.size(),
                    operand.rank());
  NCC_TRY(check_dims(inst, inst.dimensions, result.rank(), "broadcast_in_dim_c3", "broadcast_in_dim_c4",
                     "dimensions"));
  for (size_t i = 0; i < inst.dimensions.size(); ++i) {
    const int64_t to = result.dims[at(inst.dimensions[i])];
    if (i > 0 && inst.dimensions[i] < inst.dimensions[i - 1])
      return mismatch(inst, "broadcast", "dimensions", dims_text(inst.dimensions), "increasing ones");
    if (operand.dims[i] != to)
      return mismatch(inst, "broadcast_in_dim_c5",
                      fmt::format("size of result dimension {}", inst.dimensions[i]), to, operand.dims[i]);
  }
  return moved(inst, result.dims);
}

Result<Shape> infer_bitcast_convert(const Instruction& inst) {
  const Shape& from = inst.operand_shape(0);
  // A pred is one bit here, whatever it takes in memory.
  const auto bits = [](Dtype dtype) { return dtype == Dtype::Pred ? 1 : info(dtype).bits; };
  const int64_t from_bits = bits(from.dtype), to_bits = bits(inst.shape.dtype);
  std::vector<int64_t> dims = from.dims;
  if (is_complex(from.dtype) != is_complex(inst.shape.dtype))
    return mismatch(inst, "bitcast_convert_c2", "element types",
                    fmt::format("{} to {}", info(from.dtype).hlo, info(inst.shape.dtype).hlo),
                    "both complex or none");
  if (from_bits > to_bits) {
    if (from_bits % to_bits != 0)
      return mismatch(inst, "bitcast_convert_c1", "element widths",
                      fmt::format("{} to {}", from_bits, to_bits), "a multiple");
    dims.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits) {
    if (dims.empty() || dims.back() * from_bits != to_bits)
      return mismatch(inst, "bitcast_convert_c1", "last dimension of the operand",
                      dims.empty() ? 1 : dims.back(), to_bits / from_bits);
    dims.pop_back();
  }
  return array(inst.shape.dtype, dims);
}

Result<Shape> infer_concatenate(const Instruction& inst) {
  const Shape& first = inst.operand_shape(0);
  if (inst.dimensions.size() != 1)
    return mismatch(inst, "concatenate_c4", "number of dimensions", inst.dimensions.size(), 1);
  NCC_TRY(check_dims(inst, inst.dimensions, first.rank(), "concatenate_c4", "concatenate_c4", "dimension"));
  const size_t dim = at(inst.dimensions[0]);
  std::vector<int64_t> dims = first.dims;
  for (int64_t i = 1; i < inst.num_operands(); ++i) {
    const Shape& operand = inst.operand_shape(i);
    if (operand.dtype != first.dtype)
      return mismatch(inst, "concatenate_c1", fmt::format("element type of operand {}", i),
                      info(operand.dtype).hlo, info(first.dtype).hlo);
    if (operand.rank() != first.rank())
      return mismatch(inst, "concatenate_c2", fmt::format("rank of operand {}", i), operand.rank(),
                      first.rank());
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d != dim && operand.dims[d] != first.dims[d])
        return mismatch(inst, "concatenate_c2", fmt::format("dimension {} of operand {}", d, i),
                        operand.dims[d], first.dims[d]);
    }
    dims[dim] += operand.dims[dim];
  }
  return moved(inst, dims);
}

Result<Shape> infer_pad(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const Shape& value = inst.operand_shape(1);
  const auto& padding = inst.attrs().padding;
  if (!value.is_scalar() || value.dtype != operand.dtype)
    return mismatch(inst, "pad_c1", "padding value", to_string(value),
                    fmt::format("{}[]", info(operand.dtype).hlo));
  if (static_cast<int64_t>(padding.size()) != operand.rank())
    return mismatch(inst, "pad_c2", "number of paddings", padding.size(), operand.rank());
  std::vector<int64_t> dims;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (padding[d].interior < 0)
      return mismatch(inst, "pad_c3", "interior padding", padding[d].interior, "at least 0");
    const int64_t size = operand.dims[d];
    using Wide = __int128;
    const Wide padded = Wide(size) + padding[d].low + padding[d].high +
                        Wide(std::max<int64_t>(size - 1, 0)) * padding[d].interior;
    dims.push_back(static_cast<int64_t>(std::clamp<Wide>(padded, -1, kMaxDerivedSize)));
    if (dims.back() < 0)
      return mismatch(inst, "pad_c4", fmt::format("padded size of dimension {}", d), dims.back(),
                      "at least 0");
  }
  return moved(inst, dims);
}

Result<Shape> infer_slice(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const Attributes& a = inst.attrs();
  const size_t rank = operand.dims.size();
  if (a.slice_starts.size() != rank || a.slice_limits.size() != rank || a.slice_strides.size() != rank)
    return mismatch(inst, "slice_c2", "number of slice dimensions", a.slice_starts.size(), rank);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t start = a.slice_starts[d], limit = a.slice_limits[d], stride = a.slice_strides[d];
    if (start < 0 || start > limit || limit > operand.dims[d])
      return mismatch(inst, "slice_c3", fmt::format("range of dimension {}", d),
                      fmt::format("[{}:{}]", start, limit), fmt::format("within [0:{}]", operand.dims[d]));
    if (stride < 1)
      return mismatch(inst, "slice_c4", fmt::format("stride of dimension {}", d), stride, "at least 1");
    dims.push_back((limit - start + stride - 1) / stride);
  }
  return moved(inst, dims);
}

Result<Shape> infer_transpose(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  if (static_cast<int64_t>(inst.dimensions.size()) != operand.rank())
    return mismatch(inst, "transpose_c2", "length of the permutation", inst.dimensions.size(),
                    operand.rank());
  NCC_TRY(check_dims(inst, inst.dimensions, operand.rank(), "transpose_c2", "transpose_c2", "permutation"));
  std::vector<int64_t> dims;
  for (int64_t d : inst.dimensions) dims.push_back(operand.dims[at(d)]);
  return moved(inst, dims);
}

Result<Shape> infer_set_dimension_size(const Instruction& inst) {
  if (inst.dimensions.size() != 1)
    return mismatch(inst, "set_dimension_size_c1", "number of dimensions", inst.dimensions.size(), 1);
  NCC_TRY(check_dims(inst, inst.dimensions, inst.operand_shape(0).rank(), "set_dimension_size_c1",
                     "set_dimension_size_c1", "dimension"));
  if (!compatible(inst.operand_shape(1), Shape::array(Dtype::S32)))
    return mismatch(inst, "set_dimension_size_i2", "size", to_string(inst.operand_shape(1)), "s32[]");
  Shape shape = inst.operand_shape(0);
  shape.set_dynamic_dim(inst.dimensions[0], shape.dims[at(inst.dimensions[0])]);
  return shape;
}

}  // namespace

Result<Shape> infer_movement(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Constant:
      return inst.literal.shape();
    case Opcode::Iota:
      if (inst.dimensions.size() != 1)
        return mismatch(inst, "iota_c1", "number of dimensions", inst.dimensions.size(), 1);
      NCC_TRY(check_dims(inst, inst.dimensions, inst.shape.rank(), "iota_c1", "iota_c1", "dimension"));
      return inst.shape;
    case Opcode::PartitionId:
    case Opcode::ReplicaId:
      return array(Dtype::U32, {});
    case Opcode::Broadcast:
      return infer_broadcast(inst);
    case Opcode::BitcastConvert:
      return infer_bitcast_convert(inst);
    case Opcode::Concatenate:
      return infer_concatenate(inst);
    case Opcode::Copy:
      return inst.operand_shape(0);
    case Opcode::GetDimensionSize:
      if (inst.dimensions.size() != 1)
        return mismatch(inst, "get_dimension_size_c1", "number of dimensions", inst.dimensions.size(), 1);
      NCC_TRY(check_dims(inst, inst.dimensions, inst.operand_shape(0).rank(), "get_dimension_size_c1",
                         "get_dimension_size_c1", "dimension"));
      return array(Dtype::S32, {});
    case Opcode::SetDimensionSize:
      return infer_set_dimension_size(inst);
    case Opcode::Pad:
      return infer_pad(inst);
    case Opcode::Reshape:
      if (inst.operand_shape(0).num_elements() != inst.shape.num_elements())
        return mismatch(inst, "reshape_c2", "elements of the result", inst.shape.num_elements(),
                        inst.operand_shape(0).num_elements());
      return moved(inst, inst.shape.dims);
    case Opcode::Reverse:
      NCC_TRY(check_dims(inst, inst.dimensions, inst.operand_shape(0).rank(), "reverse_c3", "reverse_c2",
                         "dimensions"));
      return moved(inst, inst.operand_shape(0).dims);
    case Opcode::Slice:
      return infer_slice(inst);
    case Opcode::Transpose:
      return infer_transpose(inst);
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
