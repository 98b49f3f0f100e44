// dynamic-slice and dynamic-update-slice without an address known only at run time: the array is moved by
// powers of two, each chosen by a bit of the clamped start,
//   dynamic-slice(x, s)            -> bits of s: x = select(bit b, x moved down by 2^b, x); first elements of
//   x dynamic-update-slice(x, u, s)  -> u and a mask of ones, padded to x, are moved up by s; select(mask, u,
//   x)
// one dimension after the other: log2(n) selections per dimension that is sliced. Source:
// spec/hlo-front-half.md §4.10, spec/stablehlo-text.md §3.6.
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// Moves dimension `d` by `start` in [0, most] places: towards higher positions, or lower ones.
Instruction* moved(ComputationEditor& edit, Instruction* x, size_t d, Instruction* start, int64_t most,
                   bool up) {
  Instruction* filler = edit.scalar(x->shape.dtype, 0);
  for (int b = 0; (int64_t{1} << b) <= most; ++b) {
    const int64_t distance = int64_t{1} << b;
    std::vector<hlo::PaddingDim> padding(x->shape.dims.size());
    padding[d] = up ? hlo::PaddingDim{distance, -distance, 0} : hlo::PaddingDim{-distance, distance, 0};
    Instruction* mask = edit.constant(Literal::scalar_int(Dtype::S32, distance));
    Instruction* bit = edit.compare(hlo::CompareDirection::NE, edit.apply(Opcode::And, {start, mask}),
                                    edit.scalar(Dtype::S32, 0));
    bit = edit.broadcast_scalar(bit, x->shape.dims);
    x = edit.apply(Opcode::Select, {bit, edit.pad(x, filler, std::move(padding)), x});
  }
  return x;
}

// A start of any integer type, clamped to [0, most], as s32.
Instruction* clamped(ComputationEditor& edit, Instruction* start, int64_t most) {
  if (info(start->shape.dtype).bits < 32) start = edit.convert(start, Dtype::S32);
  const Dtype dtype = start->shape.dtype;
  if (is_signed_int(dtype))
    start = edit.apply(Opcode::Maximum, {start, edit.constant(Literal::scalar_int(dtype, 0))});
  start = edit.apply(Opcode::Minimum, {start, edit.constant(Literal::scalar_int(dtype, most))});
  return edit.convert(start, Dtype::S32);
}

Instruction* expand_slice(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  const Dims sizes = inst->shape.dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t most = x->shape.dims[d] - sizes[d];
    if (most == 0) continue;
    x = moved(edit, x, d, clamped(edit, inst->operand(static_cast<int64_t>(d) + 1), most), most, false);
    // What lies behind the slice is not moved along for the next dimension.
    Dims limits = x->shape.dims;
    limits[d] = sizes[d];
    x = edit.slice(x, Dims(sizes.size(), 0), std::move(limits));
  }
  return x;
}

Instruction* expand_update(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *update = inst->operand(1);
  Instruction* mask = edit.splat(Shape::array(Dtype::Pred, update->shape.dims), 1);
  for (size_t d = 0; d < x->shape.dims.size(); ++d) {
    const int64_t most = x->shape.dims[d] - update->shape.dims[d];
    if (most == 0) continue;
    Instruction* start = clamped(edit, inst->operand(static_cast<int64_t>(d) + 2), most);
    std::vector<hlo::PaddingDim> padding(x->shape.dims.size());
    padding[d].high = most;
    update = edit.pad(update, edit.scalar(update->shape.dtype, 0), padding);
    mask = edit.pad(mask, edit.scalar(Dtype::Pred, 0), padding);
    update = moved(edit, update, d, start, most, true);
    mask = moved(edit, mask, d, start, most, true);
  }
  return edit.apply(Opcode::Select, {mask, update, x});
}

Instruction* expand(ComputationEditor& edit, Instruction* inst) {
  const bool is_slice = inst->is(Opcode::DynamicSlice);
  if ((!is_slice && !inst->is(Opcode::DynamicUpdateSlice)) || !is_plain_array(inst) ||
      !is_plain_array(inst->operand(0)) || inst->operand_shape(0).num_elements() > INT32_MAX ||
      inst->operand_shape(is_slice ? 0 : 1).num_elements() == 0 || inst->shape.num_elements() == 0)
    return nullptr;
  return is_slice ? expand_slice(edit, inst) : expand_update(edit, inst);
}

}  // namespace

Status dynamic_slice_expander(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, expand);
}

}  // namespace ncc::hlo_passes
