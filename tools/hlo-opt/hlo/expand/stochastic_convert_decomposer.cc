// stochastic-convert(x, random) to signed integers -> floor, comparison and selection:
//   m = floor(|x|), up = random < (|x| - m) 2^bits(random), result = ±(m + up), saturated; NaN gives 0
// Source: spec/hlo-front-half.md §1.2 (no lowering takes the op itself).
#include <cmath>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Value floor(Value x) { return unary(Opcode::Floor, x); }

Instruction* decompose(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::StochasticConvert) || !is_plain_array(inst) || !is_signed_int(inst->shape.dtype) ||
      !is_float(inst->operand_shape(0).dtype) || !is_unsigned_int(inst->operand_shape(1).dtype))
    return nullptr;
  const int bits = info(inst->shape.dtype).bits;
  const Value random(edit, inst->operand(1));
  const Value x = Value(edit, inst->operand(0)).to(formula_type(inst->operand_shape(0).dtype));
  const Value magnitude = abs(x), whole = floor(magnitude);
  const Value fraction = (magnitude - whole) * std::ldexp(1.0, info(random.dtype()).bits);
  const Value up = less(random, fraction.to(random.dtype()));
  const Dtype wide = bits > 32 ? Dtype::S64 : Dtype::S32;
  Value value = whole.to(wide) + up.to(wide);
  value = select(less(x, 0), -value, value).to(inst->shape.dtype);
  const double bound = std::ldexp(1.0, bits - 1);
  const auto limit = [&](int64_t number) {
    Instruction* scalar = edit.constant(Literal::scalar_int(inst->shape.dtype, number));
    return Value(edit, edit.broadcast_scalar(scalar, inst->shape.dims));
  };
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  value = select(greater_equal(x, bound - 1), limit(most), value);
  value = select(less_equal(x, -bound), limit(-most - 1), value);
  return select(is_nan(x), limit(0), value).inst();
}

}  // namespace

Status stochastic_convert_decomposer(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, decompose);
}

}  // namespace ncc::hlo_passes
