// Cumulative sums, products and extremes, which are reduce-windows as wide as their dimension, in log2(n)
// steps: after the step of distance s every element holds the fold of the last 2s elements up to it,
//   x -> op(x moved by s, x)     s = 1, 2, 4, …
// from the front (padding n-1 before) or from the back (padding n-1 behind). The initial value must be the
// op's neutral one. Sums of floats are associated in another way. Source: spec/hlo-front-half.md §8.
#include <limits>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The value that `op` leaves everything as it is with.
bool is_neutral(const Instruction* value, Opcode op) {
  const Literal* literal = splat_of(value);
  if (!literal) return false;
  const Dtype dtype = literal->shape().dtype;
  if (!is_integer(dtype) && !is_float(dtype)) return false;
  const int bits = info(dtype).bits;
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t most = is_signed_int(dtype) ? ones >> 1 : ones;
  const int64_t least = is_signed_int(dtype) ? -static_cast<int64_t>(most) - 1 : 0;
  switch (op) {
    case Opcode::Add:
    case Opcode::Or:
    case Opcode::Xor:
      // x + 0 turns -0 into +0, as the window did; the moved zeros do it again.
      return literal->as_double(0) == 0;
    case Opcode::Multiply:
      return literal->as_double(0) == 1;
    case Opcode::And:
      return is_all_ones(value);
    case Opcode::Maximum:
      if (is_float(dtype)) return literal->as_double(0) == -std::numeric_limits<double>::infinity();
      return literal->as_int64(0) == least;
    case Opcode::Minimum:
      if (is_float(dtype)) return literal->as_double(0) == std::numeric_limits<double>::infinity();
      return is_signed_int(dtype) ? literal->as_int64(0) == static_cast<int64_t>(most) : is_all_ones(value);
    default:
      return false;
  }
}

struct Cumulation {
  int64_t dimension, size;
  bool from_back;
};

std::optional<Cumulation> cumulation_of(const hlo::Window& window, const Shape& operand) {
  std::optional<Cumulation> found;
  for (size_t d = 0; d < window.size(); ++d) {
    const hlo::WindowDim& dim = window[d];
    if (dim.stride != 1 || dim.base_dilation != 1 || dim.window_dilation != 1) return std::nullopt;
    if (dim.size == 1 && dim.padding_low == 0 && dim.padding_high == 0) continue;
    const int64_t n = operand.dims[d];
    const bool front = dim.padding_low == n - 1 && dim.padding_high == 0;
    const bool back = dim.padding_low == 0 && dim.padding_high == n - 1;
    if (found || n < 2 || dim.size != n || (!front && !back)) return std::nullopt;
    found = Cumulation{static_cast<int64_t>(d), n, back};
  }
  return found;
}

Instruction* rewrite_cumulation(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::ReduceWindow) || inst->num_operands() != 2 || !is_plain_array(inst) ||
      inst->operand_shape(0).dtype != inst->shape.dtype ||
      inst->body()->root()->shape.dtype != inst->shape.dtype || inst->shape.num_elements() == 0)
    return nullptr;
  const auto op = binary_body(*inst->body());
  const auto cumulation = cumulation_of(inst->attrs().window, inst->operand_shape(0));
  if (!op || !cumulation || !is_neutral(inst->operand(1), *op)) return nullptr;
  Instruction *x = inst->operand(0), *neutral = inst->operand(1);
  // The op with the initial value once, as the window does it.
  x = edit.apply(*op, {edit.broadcast_scalar(neutral, x->shape.dims), x});
  for (int64_t distance = 1; distance < cumulation->size; distance *= 2) {
    std::vector<hlo::PaddingDim> padding(x->shape.dims.size());
    hlo::PaddingDim& moved = padding[static_cast<size_t>(cumulation->dimension)];
    moved.low = cumulation->from_back ? -distance : distance;
    moved.high = -moved.low;
    Instruction* other = edit.pad(x, neutral, std::move(padding));
    x = cumulation->from_back ? edit.apply(*op, {x, other}) : edit.apply(*op, {other, x});
  }
  return x;
}

}  // namespace

Status reduce_window_rewriter(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, rewrite_cumulation);
}

}  // namespace ncc::hlo_passes
