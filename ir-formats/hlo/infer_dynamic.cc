// Ops whose result shape is an operand: ranks, element types and the length of the shape operand. Sizes are
// known only when the program runs.
#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

// A 1-D integer operand with one entry for each of `rank` dimensions.
Status check_extents(const Instruction& inst, int64_t operand, int64_t rank, std::string_view label,
                     std::string_view what) {
  const Shape& shape = inst.operand_shape(operand);
  if (shape.rank() != 1 || !is_integer(shape.dtype))
    return mismatch(inst, label, what, to_string(shape), "a vector of integers");
  if (shape.is_dynamic_dim(0) || shape.dims[0] == rank) return Status::ok();
  return mismatch(inst, label, fmt::format("length of {}", what), shape.dims[0], rank);
}

Status check_dtype(const Instruction& inst, int64_t operand, std::string_view label) {
  if (inst.operand_shape(operand).dtype == inst.shape.dtype) return Status::ok();
  return mismatch(inst, label, "element type of the result", info(inst.shape.dtype).hlo,
                  info(inst.operand_shape(operand).dtype).hlo);
}

Status check_rank(const Instruction& inst, std::string_view label) {
  if (inst.operand_shape(0).rank() == inst.shape.rank()) return Status::ok();
  return mismatch(inst, label, "rank of the result", inst.shape.rank(), inst.operand_shape(0).rank());
}

Status check_broadcast(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  NCC_TRY(check_dtype(inst, 0, "dynamic_broadcast_in_dim_c1"));
  if (static_cast<int64_t>(inst.dimensions.size()) != operand.rank())
    return mismatch(inst, "dynamic_broadcast_in_dim_c2", "number of dimensions", inst.dimensions.size(),
                    operand.rank());
  NCC_TRY(check_dims(inst, inst.dimensions, inst.shape.rank(), "dynamic_broadcast_in_dim_c3",
                     "dynamic_broadcast_in_dim_c4", "dimensions"));
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t to = inst.dimensions[static_cast<size_t>(d)];
    const int64_t from_size = operand.dims[static_cast<size_t>(d)],
                  to_size = inst.shape.dims[static_cast<size_t>(to)];
    if (operand.is_dynamic_dim(d) || inst.shape.is_dynamic_dim(to) || from_size == 1 || from_size == to_size)
      continue;
    return mismatch(inst, "dynamic_broadcast_in_dim_c5", fmt::format("size of result dimension {}", to),
                    to_size, from_size);
  }
  return check_extents(inst, 1, inst.shape.rank(), "dynamic_broadcast_in_dim_c7", "the output dimensions");
}

Status check_dynamic(const Instruction& inst) {
  const int64_t rank = inst.shape.rank();
  switch (inst.opcode) {
    case Opcode::DynamicBroadcast:
      return check_broadcast(inst);
    case Opcode::DynamicReshape:
      NCC_TRY(check_dtype(inst, 0, "dynamic_reshape_c1"));
      // HLO gives one scalar for each dimension, StableHLO a vector.
      if (inst.num_operands() != 2 || inst.operand_shape(1).is_scalar()) return Status::ok();
      return check_extents(inst, 1, rank, "dynamic_reshape_c3", "the output shape");
    case Opcode::DynamicIota:
      if (inst.dimensions.size() != 1)
        return mismatch(inst, "dynamic_iota_c1", "number of dimensions", inst.dimensions.size(), 1);
      NCC_TRY(check_dims(inst, inst.dimensions, rank, "dynamic_iota_c1", "dynamic_iota_c1", "dimension"));
      return check_extents(inst, 0, rank, "dynamic_iota_c2", "the output shape");
    case Opcode::DynamicPad:
      NCC_TRY(check_dtype(inst, 0, "dynamic_pad_c1"));
      NCC_TRY(check_dtype(inst, 1, "dynamic_pad_c1"));
      NCC_TRY(check_rank(inst, "dynamic_pad_c2"));
      for (int64_t i = 2; i < 5; ++i)
        NCC_TRY(check_extents(inst, i, rank, "dynamic_pad_c2", "a list of paddings"));
      return Status::ok();
    case Opcode::RealDynamicSlice:
      NCC_TRY(check_dtype(inst, 0, "real_dynamic_slice_c1"));
      NCC_TRY(check_rank(inst, "real_dynamic_slice_c2"));
      for (int64_t i = 1; i < 4; ++i)
        NCC_TRY(check_extents(inst, i, rank, "real_dynamic_slice_c2", "a slice list"));
      return Status::ok();
    case Opcode::DynamicGather:
      NCC_TRY(check_dtype(inst, 0, "dynamic_gather_c23"));
      return check_extents(inst, 2, inst.operand_shape(0).rank(), "dynamic_gather_c20", "the slice sizes");
    case Opcode::DynamicConv:
      return check_rank(inst, "dynamic_conv_c26");
    default:
      return Status::ok();
  }
}

}  // namespace

Result<Shape> infer_dynamic(const Instruction& inst) {
  NCC_TRY(check_dynamic(inst));
  return inst.shape;
}

}  // namespace ncc::hlo
