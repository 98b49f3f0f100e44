// CHLO conveniences, and ops that take their result shape as an operand: when the result type is static the
// operand says nothing more and the op is the static one. Dynamic results keep their op; later stages refuse
// those by name.
#include <numeric>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// The values of a constant 1-D integer operand, seen through converts, reshapes and concatenates.
bool constant_ints(const Instruction* inst, std::vector<int64_t>* values, int depth = 0) {
  if (depth > 8 || inst->shape.num_elements() > 1 << 12) return false;
  switch (inst->opcode) {
    case Opcode::Constant:
      for (int64_t i = 0; i < inst->literal.num_elements(); ++i) values->push_back(inst->literal.as_int64(i));
      return true;
    case Opcode::Convert:
    case Opcode::Reshape:
      return constant_ints(inst->operand(0), values, depth + 1);
    case Opcode::Broadcast: {
      std::vector<int64_t> one;
      if (!constant_ints(inst->operand(0), &one, depth + 1) || one.size() != 1) return false;
      values->insert(values->end(), static_cast<size_t>(inst->shape.num_elements()), one[0]);
      return true;
    }
    case Opcode::Concatenate:
      for (const Instruction* operand : inst->operands) {
        if (!constant_ints(operand, values, depth + 1)) return false;
      }
      return true;
    default:
      return false;
  }
}

bool is_static(const OpContext& ctx) { return ctx.op.result_types.size() == 1 && !ctx.result().is_dynamic(); }

}  // namespace

Status Importer::constant_like(OpContext& ctx) {
  const Attr* value = ctx.op.attr("value");
  if (!value || ctx.op.result_types.size() != 1) return fail(ctx, "a value and one result expected");
  const Shape& shape = ctx.result();
  if (shape.is_dynamic()) return unsupported(ctx, "dynamic result shape");
  const bool real = value->kind == Attr::Kind::Float;
  Instruction* inst = ctx.computation()->add_constant(
      real ? Literal::scalar(shape.dtype, value->real) : Literal::scalar_int(shape.dtype, value->integer));
  inst->loc = ctx.loc;
  ctx.out = {shape.is_scalar() ? inst : make(ctx, Opcode::Broadcast, shape, {inst})};
  return Status::ok();
}

// chlo.broadcast_add and kin: operands are broadcast to the result, then the plain op applies.
Status Importer::chlo_broadcast(OpContext& ctx) {
  const std::string base = ctx.op.name.substr(std::string_view("chlo.broadcast_").size());
  std::optional<Opcode> opcode = opcode_from_mlir("stablehlo." + base);
  if (!opcode) opcode = opcode_from_mlir("chlo." + base);
  if (!opcode || !info(*opcode).elementwise) return unsupported(ctx, "not a known operation");
  if (!is_static(ctx)) return unsupported(ctx, "dynamic result shape");
  const Shape& result = ctx.result();
  std::vector<int64_t> explicit_dims;
  NCC_TRY(ints(ctx, "broadcast_dimensions", &explicit_dims, false));
  std::vector<Instruction*> operands;
  for (Instruction* operand : ctx.in) {
    const int64_t rank = operand->shape.rank();
    Shape target = Shape::array(operand->shape.dtype, result.dims);
    if (same_dims(operand->shape, target)) {
      operands.push_back(operand);
      continue;
    }
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    if (rank > result.rank()) return fail(ctx, "an operand of higher rank than the result");
    std::iota(dims.begin(), dims.end(), result.rank() - rank);
    if (static_cast<int64_t>(explicit_dims.size()) == rank && rank != result.rank()) dims = explicit_dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t size = operand->shape.dims[i];
      if (dims[i] < 0 || dims[i] >= result.rank() ||
          (size != 1 && size != result.dims[static_cast<size_t>(dims[i])]))
        return fail(ctx, "operands do not broadcast to the result");
    }
    operands.push_back(broadcast(ctx, operand, target, dims));
  }
  if (*opcode == Opcode::Compare) {
    ctx.in = operands;
    return compare(ctx);
  }
  make_op(ctx, *opcode, std::move(operands));
  return Status::ok();
}

Status Importer::dynamic_broadcast_in_dim(OpContext& ctx) {
  if (ctx.in.size() != 2) return fail(ctx, "two operands expected");
  if (is_static(ctx) && !ctx.in[0]->shape.is_dynamic()) {
    ctx.in.pop_back();
    return broadcast_in_dim(ctx);
  }
  return ints(ctx, "broadcast_dimensions", &make_op(ctx, Opcode::DynamicBroadcast, ctx.in)->dimensions);
}

Status Importer::dynamic_reshape(OpContext& ctx) {
  if (ctx.in.size() != 2) return fail(ctx, "two operands expected");
  const bool fixed = is_static(ctx) && !ctx.in[0]->shape.is_dynamic();
  if (fixed) ctx.in.pop_back();
  make_op(ctx, fixed ? Opcode::Reshape : Opcode::DynamicReshape, ctx.in);
  return Status::ok();
}

Status Importer::dynamic_iota(OpContext& ctx) {
  if (is_static(ctx)) return iota(ctx);
  return ints(ctx, "iota_dimension", &make_op(ctx, Opcode::DynamicIota, ctx.in)->dimensions);
}

Status Importer::dynamic_pad(OpContext& ctx) {
  if (ctx.in.size() != 5) return fail(ctx, "five operands expected");
  std::vector<int64_t> low, high, interior;
  const bool fixed = is_static(ctx) && constant_ints(ctx.in[2], &low) && constant_ints(ctx.in[3], &high) &&
                     constant_ints(ctx.in[4], &interior) && low.size() == high.size() &&
                     low.size() == interior.size();
  if (!fixed) {
    make_op(ctx, Opcode::DynamicPad, ctx.in);
    return Status::ok();
  }
  Instruction* inst = make_op(ctx, Opcode::Pad, {ctx.in[0], ctx.in[1]});
  for (size_t d = 0; d < low.size(); ++d)
    inst->mutable_attrs().padding.push_back({low[d], high[d], interior[d]});
  return Status::ok();
}

Status Importer::real_dynamic_slice(OpContext& ctx) {
  if (ctx.in.size() != 4) return fail(ctx, "four operands expected");
  std::vector<int64_t> starts, limits, strides;
  const bool fixed = is_static(ctx) && constant_ints(ctx.in[1], &starts) &&
                     constant_ints(ctx.in[2], &limits) && constant_ints(ctx.in[3], &strides);
  if (!fixed) {
    make_op(ctx, Opcode::RealDynamicSlice, ctx.in);
    return Status::ok();
  }
  Attributes& a = make_op(ctx, Opcode::Slice, {ctx.in[0]})->mutable_attrs();
  a.slice_starts = std::move(starts);
  a.slice_limits = std::move(limits);
  a.slice_strides = std::move(strides);
  return Status::ok();
}

Status Importer::dynamic_gather(OpContext& ctx) {
  if (ctx.in.size() != 3) return fail(ctx, "three operands expected");
  std::vector<int64_t> sizes;
  const bool fixed = is_static(ctx) && constant_ints(ctx.in[2], &sizes);
  if (fixed) ctx.in.pop_back();
  Attributes& a = make_op(ctx, fixed ? Opcode::Gather : Opcode::DynamicGather, ctx.in)->mutable_attrs();
  a.slice_sizes = std::move(sizes);
  return gather_dims(ctx, &a);
}

Status Importer::dynamic_conv(OpContext& ctx) {
  if (ctx.in.size() != 3) return fail(ctx, "three operands expected");
  NCC_TRY(convolution(ctx));
  std::vector<int64_t> padding;
  Instruction* inst = ctx.out[0];
  Window& window = inst->mutable_attrs().window;
  if (!is_static(ctx) || !constant_ints(ctx.in[2], &padding) || padding.size() != 2 * window.size())
    return Status::ok();
  inst->opcode = Opcode::Convolution;
  inst->operands.pop_back();
  for (size_t d = 0; d < window.size(); ++d) {
    window[d].padding_low = padding[2 * d];
    window[d].padding_high = padding[2 * d + 1];
  }
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
