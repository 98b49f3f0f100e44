// Arithmetic identities.
#include <cmath>

#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

bool is_real_number(const Instruction* value) { return is_int(value) || is_real_float(value); }

// 2^k with an exact reciprocal in the type: both are normal numbers.
std::optional<double> exact_reciprocal(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal || !is_float(literal->shape().dtype)) return std::nullopt;
  const double number = literal->as_double(0);
  if (!std::isfinite(number) || number == 0) return std::nullopt;
  int exponent = 0;
  if (std::fabs(std::frexp(number, &exponent)) != 0.5) return std::nullopt;
  // |number| = 2^(exponent - 1). Within the smallest normal range of the types this rule knows.
  int limit = 0;
  switch (literal->shape().dtype) {
    case Dtype::F64:
      limit = 1022;
      break;
    case Dtype::F32:
    case Dtype::BF16:
      limit = 126;
      break;
    case Dtype::F16:
      limit = 14;
      break;
    default:
      return std::nullopt;
  }
  if (std::abs(exponent - 1) > limit) return std::nullopt;
  return 1 / number;
}

// k for the unsigned splat 2^k.
std::optional<int> unsigned_power_of_two(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal || !is_unsigned_int(literal->shape().dtype)) return std::nullopt;
  const uint64_t number = static_cast<uint64_t>(literal->as_int64(0));
  if (number == 0 || (number & (number - 1)) != 0) return std::nullopt;
  return __builtin_ctzll(number);
}

Instruction* integer_splat(ComputationEditor& edit, const Shape& shape, int64_t value) {
  return edit.broadcast_scalar(edit.constant(Literal::scalar_int(shape.dtype, value)), shape.dims);
}

// The extreme that changes nothing: the lowest value for max, the highest for min.
bool is_neutral_extreme(Opcode op, const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal) return false;
  const Dtype dtype = literal->shape().dtype;
  const bool lowest = op == Opcode::Maximum;
  if (dtype == Dtype::Pred) return (literal->as_int64(0) != 0) != lowest;
  if (is_float(dtype)) {
    const double number = literal->as_double(0);
    return std::isinf(number) && (number < 0) == lowest;
  }
  const int bits = info(dtype).bits;
  const int64_t number = literal->as_int64(0);
  if (is_unsigned_int(dtype)) return lowest ? number == 0 : is_all_ones(value);
  if (!is_signed_int(dtype)) return false;
  const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  return number == (lowest ? low : -(low + 1));
}

bool is_whole(const Instruction* value) {
  switch (value->opcode) {
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::RoundNearestEven:
    case Opcode::RoundNearestAfz:
    case Opcode::Sign:
      return is_real_float(value);
    case Opcode::Convert:
      return is_int(value->operand(0)) || is_pred(value->operand(0));
    case Opcode::Iota:
      return true;
    default:
      return false;
  }
}

}  // namespace

Instruction* simplify_add(ComputationEditor&, Instruction* inst) {
  for (int64_t i : {0, 1}) {
    const Instruction* other = inst->operand(1 - i);
    if (is_int(other) ? is_splat(other, 0) : is_negative_zero(other)) return inst->operand(i);
  }
  return nullptr;
}

Instruction* simplify_subtract(ComputationEditor& edit, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (is_real_number(a) && is_splat(b, 0)) return a;
  if (is_int(a) && a == b) return integer_splat(edit, inst->shape, 0);
  return nullptr;
}

Instruction* simplify_multiply(ComputationEditor& edit, Instruction* inst) {
  for (int64_t i : {0, 1}) {
    Instruction *x = inst->operand(i), *other = inst->operand(1 - i);
    if (!is_real_number(x)) continue;
    if (is_splat(other, 1)) return x;
    if (is_int(x) && is_splat(other, 0)) return other;
    if (is_real_float(x) && is_splat(other, -1)) return edit.apply(Opcode::Negate, {x});
  }
  return nullptr;
}

Instruction* simplify_divide(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *by = inst->operand(1);
  if (is_real_number(x) && is_splat(by, 1)) return x;
  if (const auto reciprocal = exact_reciprocal(by))
    return edit.apply(Opcode::Multiply, {x, edit.splat(inst->shape, *reciprocal)});
  if (const auto shift = unsigned_power_of_two(by))
    return edit.apply(Opcode::ShiftRightLogical, {x, integer_splat(edit, inst->shape, *shift)});
  return nullptr;
}

Instruction* simplify_remainder(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *by = inst->operand(1);
  if (is_int(x) && is_splat(by, 1)) return integer_splat(edit, inst->shape, 0);
  if (const auto power = unsigned_power_of_two(by)) {
    const int64_t mask = static_cast<int64_t>((uint64_t{1} << *power) - 1);
    return edit.apply(Opcode::And, {x, integer_splat(edit, inst->shape, mask)});
  }
  return nullptr;
}

Instruction* simplify_power(ComputationEditor&, Instruction* inst) {
  return is_real_number(inst) && is_splat(inst->operand(1), 1) ? inst->operand(0) : nullptr;
}

Instruction* simplify_negate(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->is(Opcode::Negate)) return x->operand(0);
  if (is_int(x) && x->is(Opcode::Subtract) && edit.has_one_use(x))
    return edit.apply(Opcode::Subtract, {x->operand(1), x->operand(0)});
  return nullptr;
}

Instruction* simplify_abs(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (is_unsigned_int(x->shape.dtype)) return x;
  if (!is_real_number(x)) return nullptr;
  if (x->is(Opcode::Abs) && is_real_number(x->operand(0))) return x;
  if (x->is(Opcode::Negate)) return edit.apply(Opcode::Abs, {x->operand(0)});
  return nullptr;
}

Instruction* simplify_extreme(ComputationEditor&, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (is_complex(inst->shape.dtype)) return nullptr;
  if (a == b) return a;
  if (is_neutral_extreme(inst->opcode, b)) return a;
  if (is_neutral_extreme(inst->opcode, a)) return b;
  return nullptr;
}

Instruction* simplify_rounding(ComputationEditor&, Instruction* inst) {
  return is_whole(inst->operand(0)) ? inst->operand(0) : nullptr;
}

Instruction* simplify_sign(ComputationEditor&, Instruction* inst) {
  Instruction* x = inst->operand(0);
  return x->is(Opcode::Sign) && is_real_number(x) ? x : nullptr;
}

Instruction* simplify_real(ComputationEditor&, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (is_real_float(x)) return x;
  return x->is(Opcode::Complex) ? x->operand(0) : nullptr;
}

Instruction* simplify_imag(ComputationEditor&, Instruction* inst) {
  Instruction* x = inst->operand(0);
  return x->is(Opcode::Complex) ? x->operand(1) : nullptr;
}

Instruction* simplify_complex(ComputationEditor&, Instruction* inst) {
  const Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (!a->is(Opcode::Real) || !b->is(Opcode::Imag) || a->operand(0) != b->operand(0)) return nullptr;
  return is_complex(a->operand(0)->shape.dtype) ? a->operand(0) : nullptr;
}

}  // namespace ncc::hlo_passes::algsimp_rules
