#include "ir-formats/hlo/interpreter/concrete.h"

#include <algorithm>

#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::hlo {
namespace {

std::vector<int64_t> integers(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_int64(i));
  return values;
}

std::vector<int64_t> padded_dims(const std::vector<int64_t>& from, const Operands& values) {
  const std::vector<int64_t> low = integers(values[2]), high = integers(values[3]),
                             interior = integers(values[4]);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.size(); ++d)
    dims.push_back(low[d] + high[d] + from[d] + std::max<int64_t>(from[d] - 1, 0) * interior[d]);
  return dims;
}

std::vector<int64_t> sliced_dims(const Operands& values) {
  const std::vector<int64_t> start = integers(values[1]), limit = integers(values[2]),
                             stride = integers(values[3]);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t step = std::max<int64_t>(1, stride[d]);
    dims.push_back(std::max<int64_t>(0, (limit[d] - start[d] + step - 1) / step));
  }
  return dims;
}

// Batch dimensions come from the indices, offset dimensions from the slice sizes that are neither collapsed
// nor batching.
std::vector<int64_t> gathered_dims(const GatherDims& g, const Shape& indices,
                                   const std::vector<int64_t>& sizes, size_t rank) {
  const auto listed = [](const std::vector<int64_t>& list, size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
  };
  std::vector<int64_t> offsets, batch, dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!listed(g.collapsed_slice_dims, d) && !listed(g.operand_batching_dims, d))
      offsets.push_back(sizes[d]);
  }
  for (size_t d = 0; d < indices.dims.size(); ++d) {
    if (static_cast<int64_t>(d) != g.index_vector_dim) batch.push_back(indices.dims[d]);
  }
  size_t next_offset = 0, next_batch = 0;
  for (size_t d = 0; d < rank; ++d) {
    std::vector<int64_t>& from = listed(g.offset_dims, d) ? offsets : batch;
    size_t& next = listed(g.offset_dims, d) ? next_offset : next_batch;
    dims.push_back(next < from.size() ? from[next++] : 0);
  }
  return dims;
}

// A convolution whose padding is an operand.
Result<Shape> convolved_shape(const Instruction& inst, const Operands& values) {
  const std::vector<int64_t> padding = integers(values[2]);
  Instruction twin;
  twin.opcode = Opcode::Convolution;
  twin.name = inst.name;
  twin.loc = inst.loc;
  twin.shape = inst.shape;
  twin.operands = {inst.operands[0], inst.operands[1]};
  twin.mutable_attrs() = inst.attrs();
  Window& window = twin.mutable_attrs().window;
  for (size_t d = 0; d < window.size() && 2 * d + 1 < padding.size(); ++d) {
    window[d].padding_low = padding[2 * d];
    window[d].padding_high = padding[2 * d + 1];
  }
  // Sizes of the window are the kernel's own, which may be known only now.
  if (twin.attrs().conv) {
    const std::vector<int64_t>& spatial = twin.attrs().conv->kernel_spatial;
    for (size_t d = 0; d < window.size() && d < spatial.size(); ++d)
      window[d].size = values[1].shape().dims[static_cast<size_t>(spatial[d])];
  }
  return infer_shape(twin);
}

// `inst` has concrete operand shapes and still the stated result shape.
Result<Shape> concrete_shape(const Instruction& inst, const Operands& values) {
  const Dtype type = inst.shape.dtype;
  switch (inst.opcode) {
    case Opcode::DynamicReshape: {
      std::vector<int64_t> dims;
      for (size_t i = 1; i < values.size(); ++i) {
        const std::vector<int64_t> sizes = integers(values[i]);
        dims.insert(dims.end(), sizes.begin(), sizes.end());
      }
      return Shape::array(type, dims);
    }
    case Opcode::DynamicBroadcast:
      return Shape::array(type, integers(values[1]));
    case Opcode::DynamicIota:
      return Shape::array(type, integers(values[0]));
    case Opcode::DynamicPad:
      return Shape::array(type, padded_dims(values[0].shape().dims, values));
    case Opcode::RealDynamicSlice:
      return Shape::array(type, sliced_dims(values));
    case Opcode::DynamicGather:
      return Shape::array(type, gathered_dims(inst.attrs().gather, values[1].shape(), integers(values[2]),
                                              inst.shape.dims.size()));
    case Opcode::DynamicConv:
      return convolved_shape(inst, values);
    case Opcode::SetDimensionSize: {
      std::vector<int64_t> dims = values[0].shape().dims;
      const size_t d = static_cast<size_t>(inst.dimensions[0]);
      const int64_t size = integers(values[1])[0];
      if (size > inst.shape.dims[d] && inst.shape.dims[d] != kUnbounded)
        return error(Code::ERUN003, inst.loc,
                     fmt::format("{}: size {} is beyond the bound", describe(inst), size));
      dims[d] = size;
      return Shape::array(type, dims);
    }
    default:
      return infer_shape(inst);
  }
}

Status check_sizes(const Instruction& inst) {
  for (int64_t size : inst.shape.dims) {
    if (size < 0)
      return error(Code::ERUN003, inst.loc, fmt::format("{}: a size is negative", describe(inst)));
  }
  // The rules of reshape and broadcast, with the sizes that are known now.
  const bool reshape = inst.is(Opcode::DynamicReshape) || inst.is(Opcode::Reshape);
  if (reshape && inst.shape.num_elements() != inst.operand_shape(0).num_elements())
    return error(Code::ERUN003, inst.loc,
                 fmt::format("{}: {} elements become {}", describe(inst),
                             inst.operand_shape(0).num_elements(), inst.shape.num_elements()));
  if (!inst.is(Opcode::DynamicBroadcast)) return Status::ok();
  const std::vector<int64_t>& from = inst.operand_shape(0).dims;
  for (size_t d = 0; d < from.size(); ++d) {
    const size_t target =
        d < inst.dimensions.size() ? static_cast<size_t>(inst.dimensions[d]) : inst.shape.dims.size();
    if (target >= inst.shape.dims.size() || (from[d] != 1 && from[d] != inst.shape.dims[target]))
      return error(Code::ERUN003, inst.loc,
                   fmt::format("{}: size {} does not broadcast to {}", describe(inst), from[d],
                               to_string(inst.shape)));
  }
  return Status::ok();
}

}  // namespace

bool needs_concrete_sizes(const Instruction& inst) {
  switch (inst.info().kind) {
    case OpKind::Control:
    case OpKind::Tuple:
    case OpKind::Token:
    case OpKind::Async:
      return false;
    default:
      break;
  }
  if (inst.is(Opcode::Parameter) || inst.is(Opcode::Constant)) return false;
  return inst.shape.is_dynamic() || std::any_of(inst.operands.begin(), inst.operands.end(),
                                                [](const Instruction* o) { return o->shape.is_dynamic(); });
}

Status make_concrete(const Instruction& inst, const Operands& values, Concrete& concrete) {
  Instruction& made = concrete.inst;
  made.opcode = inst.opcode;
  made.direction = inst.direction;
  made.compare_type = inst.compare_type;
  made.name = inst.name;
  made.shape = inst.shape;
  made.called = inst.called;
  made.dimensions = inst.dimensions;
  made.index = inst.index;
  made.loc = inst.loc;
  made.parent = inst.parent;
  if (inst.has_attrs()) made.mutable_attrs() = inst.attrs();
  for (size_t i = 0; i < values.size(); ++i) {
    Instruction& stand_in = concrete.operands.emplace_back();
    stand_in.shape = values[i].shape();
    stand_in.shape.quantization = inst.operands[i]->shape.quantization;
    stand_in.name = inst.operands[i]->name;
    made.operands.push_back(&stand_in);
  }
  if (inst.shape.is_dynamic()) {
    NCC_ASSIGN(made.shape, concrete_shape(made, values));
    if (made.shape.is_dynamic())
      return unsupported(inst, "its result shape cannot be derived from its operands");
    made.shape.quantization = inst.shape.quantization;
  }
  return check_sizes(made);
}

}  // namespace ncc::hlo
