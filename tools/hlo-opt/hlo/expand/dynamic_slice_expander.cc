// dynamic-slice and dynamic-update-slice without an address known only at run time: the array is moved by
// powers of two, each chosen by a bit of the clamped start,
//   dynamic-slice(x, s)             bits of s, the highest first: x = select(bit b, x from place 2^b, x),
//                                   cut to the places that the lower bits can still reach
//   dynamic-update-slice(x, u, s)   bits of s, the lowest first: u = select(bit b, 2^b fillers and u, u),
//                                   longer by 2^b places; a mask of ones is moved with it, and chooses
//                                   between u and x
// one dimension after the other: log2(n) selections per dimension that is sliced, each of about half as many
// places as its larger neighbour, so that all of them touch about twice the array. Source:
// spec/hlo-front-half.md §4.10, spec/stablehlo-text.md §3.6.
#include <algorithm>
#include <bit>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// Bit `distance` (a power of two) of the scalar `start`, as an array of `sizes`.
Instruction* bit_of(ComputationEditor& edit, Instruction* start, int64_t distance, const Dims& sizes) {
  Instruction* mask = edit.constant(Literal::scalar_int(Dtype::S32, distance));
  Instruction* bit = edit.compare(hlo::CompareDirection::NE, edit.apply(Opcode::And, {start, mask}),
                                  edit.scalar(Dtype::S32, 0));
  return edit.broadcast_scalar(bit, sizes);
}

// `x` in dimension `d`: `cut` places fewer in front, then as many more or fewer behind as make it `length`
// places.
Instruction* shifted(ComputationEditor& edit, Instruction* x, size_t d, int64_t cut, int64_t length) {
  std::vector<hlo::PaddingDim> padding(x->shape.dims.size());
  padding[d] = {-cut, length - (x->shape.dims[d] - cut), 0};
  return edit.pad(x, edit.scalar(x->shape.dtype, 0), std::move(padding));
}

// The `size` places of dimension `d` that begin at `start`, which is in [0, most].
Instruction* taken(ComputationEditor& edit, Instruction* x, size_t d, Instruction* start, int64_t most,
                   int64_t size) {
  for (int64_t distance = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most))); distance > 0;
       distance /= 2) {
    const int64_t length = size + distance - 1;
    Instruction* far = shifted(edit, x, d, distance, length);
    Instruction* near = shifted(edit, x, d, 0, length);
    x = edit.apply(Opcode::Select, {bit_of(edit, start, distance, near->shape.dims), far, near});
  }
  return x;
}

// `x` behind `start` fillers of dimension `d`, with as many fillers behind it as make it `length` places;
// `start` is in [0, length - its own].
Instruction* placed(ComputationEditor& edit, Instruction* x, size_t d, Instruction* start, int64_t length) {
  const int64_t most = length - x->shape.dims[d];
  for (int64_t distance = 1; distance <= most; distance *= 2) {
    const int64_t longer = std::min(length, x->shape.dims[d] + distance);
    Instruction* far = shifted(edit, x, d, -distance, longer);
    Instruction* near = shifted(edit, x, d, 0, longer);
    x = edit.apply(Opcode::Select, {bit_of(edit, start, distance, near->shape.dims), far, near});
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
    x = taken(edit, x, d, clamped(edit, inst->operand(static_cast<int64_t>(d) + 1), most), most, sizes[d]);
  }
  return x;
}

Instruction* expand_update(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *update = inst->operand(1);
  Instruction* mask = edit.splat(Shape::array(Dtype::Pred, update->shape.dims), 1);
  for (size_t d = 0; d < x->shape.dims.size(); ++d) {
    const int64_t length = x->shape.dims[d], most = length - update->shape.dims[d];
    if (most == 0) continue;
    Instruction* start = clamped(edit, inst->operand(static_cast<int64_t>(d) + 2), most);
    update = placed(edit, update, d, start, length);
    mask = placed(edit, mask, d, start, length);
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
