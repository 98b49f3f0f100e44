// AwsNeuronArgMax, AwsNeuronArgMin; config = axis -> a reduction to the extreme and one to the least index
// that has it. A NaN is the extreme wherever there is one. Source: spec/hlo-front-half.md §4.3 (19).
#include <limits>

#include "tools/hlo-opt/hlo/expand/custom_call_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// What every value of the type is at least (at most) as large as.
Literal neutral_extreme(Dtype dtype, bool is_max) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_float(dtype)) return Literal::scalar(dtype, is_max ? -kInfinity : kInfinity);
  const int bits = info(dtype).bits;
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t most = is_signed_int(dtype) ? ones >> 1 : ones;
  const int64_t least = is_signed_int(dtype) ? -static_cast<int64_t>(most) - 1 : 0;
  return Literal::scalar_int(dtype, is_max ? least : static_cast<int64_t>(most));
}

Instruction* open_arg_extreme(ComputationEditor& edit, Instruction* inst) {
  const bool is_max = calls(*inst, "AwsNeuronArgMax");
  const bool is_pair = inst->shape.is_tuple() && inst->shape.elements.size() == 2;
  if ((!is_max && !calls(*inst, "AwsNeuronArgMin")) || inst->num_operands() != 1 ||
      (!is_pair && !inst->shape.is_array()) || inst->shape.is_dynamic() || !is_plain_array(inst->operand(0)))
    return nullptr;
  Instruction* x = inst->operand(0);
  const auto axis = config_number(*inst, x->shape.rank());
  if (!axis || (!is_float(x->shape.dtype) && !is_integer(x->shape.dtype)) || x->shape.num_elements() == 0)
    return nullptr;
  const int64_t size = x->shape.dims[static_cast<size_t>(*axis)];
  const int64_t count = x->shape.num_elements() / size;
  const Shape& indices = is_pair ? inst->shape.elements[1] : inst->shape;
  const Shape& values = is_pair ? inst->shape.elements[0] : x->shape;
  if (size > INT32_MAX || values.dtype != x->shape.dtype || (is_pair && values.num_elements() != count) ||
      indices.num_elements() != count || !is_integer(indices.dtype))
    return nullptr;
  Dims kept;
  for (int64_t d = 0; d < x->shape.rank(); ++d)
    if (d != *axis) kept.push_back(d);
  Instruction* extreme = edit.reduce(x, edit.constant(neutral_extreme(x->shape.dtype, is_max)), {*axis},
                                     is_max ? Opcode::Maximum : Opcode::Minimum);
  Value there = equal(Value(edit, x), Value(edit, edit.broadcast(extreme, x->shape.dims, kept)));
  // A NaN is the extreme wherever there is one.
  if (is_float(x->shape.dtype)) there = there | is_nan(Value(edit, x));
  const Value number(edit, edit.iota(Dtype::S32, x->shape.dims, *axis));
  const Value index = select(there, number, number.like(static_cast<double>(size - 1)));
  Instruction* least_index = edit.reduce(
      index.inst(), edit.constant(Literal::scalar_int(Dtype::S32, size - 1)), {*axis}, Opcode::Minimum);
  Instruction* index_result = edit.convert(edit.reshape(least_index, indices.dims), indices.dtype);
  if (!is_pair) return index_result;
  return edit.tuple({edit.reshape(extreme, values.dims), index_result});
}

}  // namespace

Status lower_argminmax_custom_call(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_arg_extreme);
}

}  // namespace ncc::hlo_passes
