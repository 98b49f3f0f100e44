// Conversions between element types, and copies.
#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

// Converting a value gives the same whether it comes in `from` or in the wider `through`: floats to floats
// and integers to integers do; from integers to floats and on to integers differs where one saturates and the
// other wraps.
bool is_same_through(Dtype from, Dtype through, Dtype to) {
  if (!holds_all_values(from, through)) return false;
  if (from == Dtype::Pred) return to != Dtype::Pred;
  if (is_float(from)) return is_float(through);
  return is_integer(from) && is_integer(through) && (is_integer(to) || is_float(to));
}

}  // namespace

Instruction* simplify_convert(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  const Dtype to = inst->shape.dtype;
  if (x->shape.dtype == to) return x;
  if (!x->is(Opcode::Convert)) return nullptr;
  Instruction* source = x->operand(0);
  const Dtype from = source->shape.dtype, through = x->shape.dtype;
  if (is_complex(from) || is_complex(through) || is_complex(to) || !is_plain_array(source)) return nullptr;
  if (from == to) return holds_all_values(from, through) ? source : nullptr;
  return is_same_through(from, through, to) ? edit.convert(source, to) : nullptr;
}

Instruction* simplify_bitcast_convert(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (compatible(x->shape, inst->shape)) return x;
  if (!x->is(Opcode::BitcastConvert)) return nullptr;
  Instruction* source = x->operand(0);
  if (compatible(source->shape, inst->shape)) return source;
  if (source->shape.dims != inst->shape.dims || x->shape.dims != inst->shape.dims) return nullptr;
  return edit.clone(inst, {source});
}

Instruction* simplify_reduce_precision(ComputationEditor&, Instruction* inst) {
  Instruction* x = inst->operand(0);
  const int64_t exponent = inst->attrs().exponent_bits, mantissa = inst->attrs().mantissa_bits;
  const auto is_own = [&](Dtype dtype, int64_t e, int64_t m) {
    return x->shape.dtype == dtype && exponent == e && mantissa == m;
  };
  if (is_own(Dtype::F32, 8, 23) || is_own(Dtype::F64, 11, 52) || is_own(Dtype::F16, 5, 10) ||
      is_own(Dtype::BF16, 8, 7))
    return x;
  if (x->is(Opcode::ReducePrecision) && x->attrs().exponent_bits == exponent &&
      x->attrs().mantissa_bits == mantissa)
    return x;
  return nullptr;
}

Instruction* simplify_copy(ComputationEditor&, Instruction* inst) { return inst->operand(0); }

}  // namespace ncc::hlo_passes::algsimp_rules
