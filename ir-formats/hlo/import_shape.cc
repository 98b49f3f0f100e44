// Shape and data movement ops of StableHLO.
#include <algorithm>
#include <numeric>

#include "ir-formats/hlo/import.h"

namespace ncc::hlo::mlir {

Status Importer::iota(OpContext& ctx) {
  int64_t dim = 0;
  NCC_TRY(integer(ctx, "iota_dimension", &dim));
  make_op(ctx, Opcode::Iota, {})->dimensions = {dim};
  return Status::ok();
}

// HLO broadcasts neither stretch dimensions of size 1 nor permute: those are dropped by a reshape, sorted by
// a transpose.
Instruction* Importer::broadcast(OpContext& ctx, Instruction* value, const Shape& shape,
                                 std::vector<int64_t> dims) {
  std::vector<int64_t> kept_dims, kept_sizes;
  const Shape from = value->shape;
  bool stretched = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = from.dims[i];
    if (size == 1 && shape.dims[static_cast<size_t>(dims[i])] != 1) {
      stretched = true;
      continue;
    }
    kept_dims.push_back(dims[i]);
    kept_sizes.push_back(size);
  }
  Shape part = from;
  if (stretched) {
    part.dims = kept_sizes;
    value = make(ctx, Opcode::Reshape, part, {value});
  }
  if (!std::is_sorted(kept_dims.begin(), kept_dims.end())) {
    std::vector<int64_t> order(kept_dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return kept_dims[static_cast<size_t>(a)] < kept_dims[static_cast<size_t>(b)];
    });
    Shape turned = part;
    for (size_t i = 0; i < order.size(); ++i) turned.dims[i] = kept_sizes[static_cast<size_t>(order[i])];
    value = make(ctx, Opcode::Transpose, turned, {value});
    value->dimensions = order;
    std::sort(kept_dims.begin(), kept_dims.end());
  }
  Instruction* inst = make(ctx, Opcode::Broadcast, shape, {value});
  inst->dimensions = std::move(kept_dims);
  return inst;
}

namespace {

// Dimensions of a broadcast: one per operand dimension, distinct and in range.
bool valid_dims(const Shape& operand, const Shape& result, const std::vector<int64_t>& dims) {
  if (static_cast<int64_t>(dims.size()) != operand.rank()) return false;
  uint64_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= result.rank() || (seen >> dims[i]) & 1) return false;
    seen |= uint64_t{1} << dims[i];
    const int64_t to = result.dims[static_cast<size_t>(dims[i])];
    if (operand.dims[i] != 1 && operand.dims[i] != to) return false;
  }
  return true;
}

}  // namespace

Status Importer::broadcast_in_dim(OpContext& ctx) {
  std::vector<int64_t> dims;
  NCC_TRY(ints(ctx, "broadcast_dimensions", &dims));
  if (ctx.in.size() != 1 || ctx.op.result_types.size() != 1)
    return fail(ctx, "one operand and one result expected");
  if (!valid_dims(ctx.in[0]->shape, ctx.result(), dims))
    return error(Code::EVRF004, ctx.loc,
                 fmt::format("{} (line {}): dims [{}] of operand {}", ctx.op.name, ctx.op.line,
                             fmt::join(dims, ","), to_string(ctx.in[0]->shape)),
                 to_string(ctx.result()), "a result with those dimensions of equal size or stretched from 1");
  ctx.out = {broadcast(ctx, ctx.in[0], ctx.result(), dims)};
  return Status::ok();
}

Status Importer::broadcast_sizes(OpContext& ctx) {
  if (ctx.in.size() != 1 || ctx.op.result_types.size() != 1)
    return fail(ctx, "one operand and one result expected");
  const int64_t rank = ctx.in[0]->shape.rank();
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), ctx.result().rank() - rank);
  if (!valid_dims(ctx.in[0]->shape, ctx.result(), dims))
    return fail(ctx, "the result does not end in the operand's dimensions");
  ctx.out = {broadcast(ctx, ctx.in[0], ctx.result(), dims)};
  return Status::ok();
}

// Ops whose only attribute is a list of dimensions or one dimension.
Status Importer::with_dims(OpContext& ctx) {
  const std::optional<Opcode> opcode = opcode_from_mlir(ctx.op.name);
  const std::string_view key = ctx.op.name == "stablehlo.transpose" ? "permutation"
                               : ctx.op.name == "stablehlo.reverse" ? "dimensions"
                                                                    : "dimension";
  std::vector<int64_t> dims;
  NCC_TRY(ints(ctx, key, &dims));
  make_op(ctx, *opcode, ctx.in)->dimensions = std::move(dims);
  return Status::ok();
}

Status Importer::slice(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::Slice, ctx.in);
  Attributes& a = inst->mutable_attrs();
  NCC_TRY(ints(ctx, "start_indices", &a.slice_starts));
  NCC_TRY(ints(ctx, "limit_indices", &a.slice_limits));
  a.slice_strides.assign(a.slice_starts.size(), 1);
  return ints(ctx, "strides", &a.slice_strides, false);
}

Status Importer::pad(OpContext& ctx) {
  std::vector<int64_t> low, high, interior;
  NCC_TRY(ints(ctx, "edge_padding_low", &low));
  NCC_TRY(ints(ctx, "edge_padding_high", &high));
  NCC_TRY(ints(ctx, "interior_padding", &interior));
  if (low.size() != high.size() || low.size() != interior.size())
    return fail(ctx, "paddings of different length");
  Instruction* inst = make_op(ctx, Opcode::Pad, ctx.in);
  for (size_t d = 0; d < low.size(); ++d)
    inst->mutable_attrs().padding.push_back({low[d], high[d], interior[d]});
  return Status::ok();
}

Status Importer::dynamic_slice(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::DynamicSlice, ctx.in);
  return ints(ctx, "slice_sizes", &inst->mutable_attrs().slice_sizes);
}

Status Importer::tuple(OpContext& ctx) {
  ctx.out = {ctx.computation()->add_tuple(ctx.in)};
  ctx.out[0]->loc = ctx.loc;
  return Status::ok();
}

Status Importer::get_tuple_element(OpContext& ctx) {
  int64_t index = 0;
  NCC_TRY(integer(ctx, "index", &index));
  if (ctx.in.size() != 1 || !ctx.in[0]->shape.is_tuple() || index < 0 ||
      index >= static_cast<int64_t>(ctx.in[0]->shape.elements.size()))
    return fail(ctx, fmt::format("no element {}", index));
  ctx.out = {ctx.computation()->add_get(ctx.in[0], index)};
  ctx.out[0]->loc = ctx.loc;
  return Status::ok();
}

Status Importer::optimization_barrier(OpContext& ctx) {
  if (ctx.in.empty()) return Status::ok();
  if (ctx.in.size() == 1) {
    ctx.out = {make(ctx, Opcode::OptBarrier, ctx.in[0]->shape, ctx.in)};
    return Status::ok();
  }
  Instruction* all = ctx.computation()->add_tuple(ctx.in);
  all->loc = ctx.loc;
  return take_apart(ctx, make(ctx, Opcode::OptBarrier, all->shape, {all}));
}

Status Importer::identity(OpContext& ctx) {
  ctx.out = ctx.in;
  return Status::ok();
}

Status Importer::ignore(OpContext&) { return Status::ok(); }

}  // namespace ncc::hlo::mlir
