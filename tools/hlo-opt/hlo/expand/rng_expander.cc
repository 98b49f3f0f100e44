// rng -> random bits of the program's own generator, and arithmetic:
//   state = rng-get-and-update-state (one step per block of four words), bits = philox(state) as u32
//   u in [0, 1): the upper bits of a word, as many as the type has places, times 2^-places
//   uniform floats    a + (b - a) u, never b itself
//   uniform integers  a + bits mod (b - a); pred: the lowest bit when the range is (false, true)
//   normal            mean + deviation * sqrt(-2 log(1 - u1)) cos(2 pi u2)   (Box-Muller)
// The numbers are others than the op's own, which are nobody's to rely on; equal states give equal numbers,
// so that a seed set before the run is honoured. Source: spec/stablehlo-text.md §3.9, spec/hlo-front-half.md
// §8.
#include <cmath>
#include <numbers>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// `count` arrays of random words like `dims`.
std::vector<Value> random_words(ComputationEditor& edit, const Dims& dims, int64_t count, Dtype word) {
  const int64_t elements = Shape::array(word, dims).num_elements();
  Instruction* state = edit.add(Opcode::RngGetAndUpdateState, Shape::array(Dtype::U64, {2}), {});
  state->mutable_attrs().delta = (elements * count * (info(word).bits / 32) + 3) / 4;
  const Shape bits = Shape::array(word, {count, elements});
  Instruction* generator =
      edit.add(Opcode::RngBitGenerator, Shape::make_tuple({state->shape, bits}), {state});
  generator->mutable_attrs().rng_algorithm = hlo::RngAlgorithm::Philox;
  Instruction* words = edit.element(generator, 1);
  std::vector<Value> arrays;
  for (int64_t i = 0; i < count; ++i)
    arrays.emplace_back(edit, edit.reshape(edit.slice(words, {i, 0}, {i + 1, elements}), dims));
  return arrays;
}

// Uniform in [0, 1), every value a multiple of 2^-places.
Value unit_interval(Value words, Dtype type) {
  const int places = type == Dtype::F64 ? 53 : 24;
  const int width = info(words.dtype()).bits;
  const Value steps = shift_right(words, static_cast<double>(width - places));
  return steps.to(type) * std::ldexp(1.0, -places);
}

Value normal(ComputationEditor& edit, const Shape& shape, Dtype type, Value mean, Value deviation) {
  const auto words = random_words(edit, shape.dims, 2, type == Dtype::F64 ? Dtype::U64 : Dtype::U32);
  const Value u = unit_interval(words[0], type), v = unit_interval(words[1], type);
  const Value radius = sqrt(log(1 - u) * -2.0);
  return mean + deviation * (radius * cos(v * (2 * std::numbers::pi)));
}

// Rounding must not reach the excluded upper bound: those few become the lower one.
Instruction* uniform_float(ComputationEditor& edit, const Shape& shape, Dtype type, Value low, Value high) {
  const auto words = random_words(edit, shape.dims, 1, type == Dtype::F64 ? Dtype::U64 : Dtype::U32);
  Value x = low.to(type) + (high.to(type) - low.to(type)) * unit_interval(words[0], type);
  x = x.to(shape.dtype);
  return select(greater_equal(x, high) & greater(high, low), low, x).inst();
}

Instruction* uniform_integer(ComputationEditor& edit, const Shape& shape, Value low, Value high) {
  const bool is_wide = info(shape.dtype).bits > 32;
  const Dtype word = is_wide ? Dtype::U64 : Dtype::U32;
  const Value bits = random_words(edit, shape.dims, 1, word)[0];
  const Value range = high.to(word) - low.to(word);
  // An empty range gives its lower bound.
  const Value offset = bits % max(range, 1.0);
  return edit.convert((low.to(word) + offset).inst(), shape.dtype);
}

Instruction* expand(ComputationEditor& edit, Instruction* inst) {
  const Shape& shape = inst->shape;
  if (!inst->is(Opcode::Rng) || !is_plain_array(inst) || edit.has_control_edge(inst)) return nullptr;
  if (shape.num_elements() == 0) return edit.splat(shape, 0);
  const Value a(edit, edit.broadcast_scalar(inst->operand(0), shape.dims));
  const Value b(edit, edit.broadcast_scalar(inst->operand(1), shape.dims));
  const bool is_normal = inst->attrs().rng_distribution == hlo::RngDistribution::Normal;
  if (is_float(shape.dtype)) {
    const Dtype type = formula_type(shape.dtype);
    if (is_normal) return normal(edit, shape, type, a.to(type), b.to(type)).to(shape.dtype).inst();
    return uniform_float(edit, shape, type, a, b);
  }
  if (is_normal) return nullptr;
  if (is_integer(shape.dtype)) return uniform_integer(edit, shape, a, b);
  if (shape.dtype != Dtype::Pred) return nullptr;
  const Value bit = random_words(edit, shape.dims, 1, Dtype::U32)[0] & 1.0;
  return (a | (b & not_equal(bit, 0))).inst();
}

}  // namespace

Status rng_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    Instruction* value = expand(edit, inst);
    if (!value) return Status::ok();
    edit.replace(inst, value);
    edit.erase(inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
