#include "tools/hlo-opt/hlo/float_facts.h"

#include <array>
#include <cmath>

namespace ncc::hlo_passes {
namespace {

constexpr FloatFacts kFiniteAnySign{.negative = true, .zero = true, .pos_inf = false, .neg_inf = false};
constexpr FloatFacts kFiniteNonNegative{.negative = false, .zero = true, .pos_inf = false, .neg_inf = false};
constexpr FloatFacts kNothing{.negative = false, .zero = false, .pos_inf = false, .neg_inf = false};

FloatFacts either(FloatFacts a, FloatFacts b) {
  return {.negative = a.negative || b.negative,
          .zero = a.zero || b.zero,
          .pos_inf = a.pos_inf || b.pos_inf,
          .neg_inf = a.neg_inf || b.neg_inf};
}

FloatFacts negated(FloatFacts a) {
  // "Positive" is not kept: what was not negative may be zero or positive.
  return {.negative = true, .zero = a.zero, .pos_inf = a.neg_inf, .neg_inf = a.pos_inf};
}

FloatFacts larger(FloatFacts a, FloatFacts b) {
  return {.negative = a.negative && b.negative,
          .zero = a.zero || b.zero,
          .pos_inf = a.pos_inf || b.pos_inf,
          .neg_inf = a.neg_inf && b.neg_inf};
}

FloatFacts smaller(FloatFacts a, FloatFacts b) {
  return {.negative = a.negative || b.negative,
          .zero = a.zero || b.zero,
          .pos_inf = a.pos_inf && b.pos_inf,
          .neg_inf = a.neg_inf || b.neg_inf};
}

/// Sums overflow; those of values that are never negative only upwards.
FloatFacts sum(FloatFacts a, FloatFacts b) {
  const bool negative = a.negative || b.negative;
  return {.negative = negative, .zero = negative || (a.zero && b.zero), .pos_inf = true, .neg_inf = negative};
}

/// Products underflow and overflow.
FloatFacts product(FloatFacts a, FloatFacts b) {
  const bool negative = a.negative || b.negative;
  return {.negative = negative, .zero = true, .pos_inf = true, .neg_inf = negative};
}

FloatFacts of_literal(const Literal& literal) {
  FloatFacts facts = kNothing;
  const Dtype dtype = literal.shape().dtype;
  const int64_t width = size_bytes(dtype);
  const std::byte* at = literal.bytes().data();
  for (int64_t i = 0; i < literal.num_elements(); ++i, at += width) {
    const double value = load_as_double(dtype, at);
    facts.negative |= value < 0;
    facts.zero |= value == 0;
    facts.pos_inf |= value == HUGE_VAL;
    facts.neg_inf |= value == -HUGE_VAL;
  }
  return facts;
}

}  // namespace

bool has_infinity(Dtype dtype) {
  return is_float(dtype) && std::isinf(Literal::scalar(dtype, HUGE_VAL).as_double(0));
}

double largest_finite(Dtype dtype) {
  double largest = 0;
  // The largest power of two, and then every smaller one that still fits.
  for (double power = 0x1p1023; power > 0; power /= 2) {
    const double sum = largest + power;
    if (largest > 0 && sum == largest) break;
    if (std::isfinite(sum) && Literal::scalar(dtype, sum).as_double(0) == sum) largest = sum;
  }
  return largest;
}

FloatFacts FloatFactTable::of(const Instruction* value) const {
  const auto found = facts_.find(value);
  FloatFacts facts = found == facts_.end() ? FloatFacts() : found->second;
  if (value->shape.is_array() && is_float(value->shape.dtype) && !has_infinity(value->shape.dtype))
    facts.pos_inf = facts.neg_inf = false;
  return facts;
}

void FloatFactTable::visit(const Instruction* inst) {
  if (!is_plain_array(inst) || !is_float(inst->shape.dtype)) return;
  const FloatFacts facts = derive(inst);
  if (facts != FloatFacts() || facts_.contains(inst)) facts_[inst] = facts;
}

FloatFacts FloatFactTable::any_of(const Instruction* inst, int64_t first, int64_t last) const {
  FloatFacts facts = kNothing;
  for (int64_t i = first; i < last; ++i) facts = either(facts, of(inst->operand(i)));
  return facts;
}

FloatFacts FloatFactTable::derive(const Instruction* inst) const {
  switch (inst->opcode) {
    case Opcode::Constant:
      return of_literal(inst->literal);
    case Opcode::Iota:
      // Half-precision indices of long dimensions overflow.
      return info(inst->shape.dtype).bits >= 32 || inst->shape.dtype == Dtype::BF16
                 ? kFiniteNonNegative
                 : FloatFacts{.negative = false, .zero = true, .pos_inf = true, .neg_inf = false};
    case Opcode::Broadcast:
    case Opcode::Reshape:
    case Opcode::Transpose:
    case Opcode::Slice:
    case Opcode::Reverse:
    case Opcode::Copy:
    case Opcode::DynamicSlice:
    case Opcode::Gather:
    case Opcode::OptBarrier:
      return of(inst->operand(0));
    case Opcode::DynamicUpdateSlice:
    case Opcode::Pad:
      return any_of(inst, 0, 2);
    case Opcode::Concatenate:
      return any_of(inst, 0, inst->num_operands());
    case Opcode::Select:
      return any_of(inst, 1, 3);
    case Opcode::Clamp:
      return smaller(larger(of(inst->operand(0)), of(inst->operand(1))), of(inst->operand(2)));
    case Opcode::Convert:
      return of_convert(inst);
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
      return of_reduce(inst);
    default:
      return inst->num_operands() == 1 ? of_unary(inst) : of_binary(inst);
  }
}

FloatFacts FloatFactTable::of_convert(const Instruction* inst) const {
  const Dtype from = inst->operand_shape(0).dtype, to = inst->shape.dtype;
  if (is_float(from)) {
    FloatFacts facts = of(inst->operand(0));
    if (holds_all_values(from, to)) return facts;
    // Narrower types overflow and underflow.
    return {.negative = facts.negative, .zero = true, .pos_inf = true, .neg_inf = facts.negative};
  }
  if (from == Dtype::Pred) return kFiniteNonNegative;
  if (!is_integer(from)) return {};
  const double largest = std::ldexp(1.0, info(from).bits);
  const bool overflows = largest > largest_finite(to);
  const bool is_signed = is_signed_int(from);
  return {.negative = is_signed, .zero = true, .pos_inf = overflows, .neg_inf = overflows && is_signed};
}

FloatFacts FloatFactTable::of_unary(const Instruction* inst) const {
  const FloatFacts a = of(inst->operand(0));
  switch (inst->opcode) {
    case Opcode::Tanh:
    case Opcode::Erf:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Sign:
    case Opcode::Atan:
    case Opcode::Asin:
      return kFiniteAnySign;
    case Opcode::Logistic:
    case Opcode::Erfc:
    case Opcode::Acos:
      return kFiniteNonNegative;
    case Opcode::Abs:
      return {.negative = false, .zero = a.zero, .pos_inf = a.is_infinite(), .neg_inf = false};
    case Opcode::Negate:
      return negated(a);
    case Opcode::Exp:
      return {.negative = false, .zero = true, .pos_inf = true, .neg_inf = false};
    case Opcode::Square:
      return {.negative = false, .zero = true, .pos_inf = true, .neg_inf = false};
    case Opcode::Sqrt:
      return {.negative = false, .zero = a.zero, .pos_inf = a.pos_inf, .neg_inf = false};
    case Opcode::Rsqrt:
      // Of zero, an infinity of its sign.
      return {.negative = a.zero, .zero = a.pos_inf, .pos_inf = a.zero, .neg_inf = a.zero};
    case Opcode::Log:
      return {.negative = true, .zero = true, .pos_inf = a.pos_inf, .neg_inf = a.zero};
    case Opcode::Log1p:
      return {.negative = a.negative, .zero = a.zero, .pos_inf = a.pos_inf, .neg_inf = a.negative};
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::RoundNearestAfz:
    case Opcode::RoundNearestEven:
      return {.negative = a.negative, .zero = true, .pos_inf = a.pos_inf, .neg_inf = a.neg_inf};
    default:
      return {};
  }
}

FloatFacts FloatFactTable::of_binary(const Instruction* inst) const {
  if (inst->num_operands() != 2) return {};
  const bool is_square = inst->operand(0) == inst->operand(1);
  const FloatFacts a = of(inst->operand(0)), b = of(inst->operand(1));
  switch (inst->opcode) {
    case Opcode::Add:
      return sum(a, b);
    case Opcode::Subtract:
      return sum(a, negated(b));
    case Opcode::Multiply:
      return is_square ? product(kFiniteNonNegative, kFiniteNonNegative) : product(a, b);
    case Opcode::Divide: {
      // A zero of either sign below decides nothing about the sign of the quotient.
      const bool negative = a.negative || b.negative || b.zero;
      return {.negative = negative, .zero = true, .pos_inf = true, .neg_inf = negative};
    }
    case Opcode::Maximum:
      return larger(a, b);
    case Opcode::Minimum:
      return smaller(a, b);
    case Opcode::Atan2:
      return kFiniteAnySign;
    default:
      return {};
  }
}

FloatFacts FloatFactTable::of_reduce(const Instruction* inst) const {
  if (inst->num_operands() != 2) return {};
  const std::optional<Opcode> op = binary_body(*inst->body());
  if (!op) return {};
  const FloatFacts value = of(inst->operand(0)), initial = of(inst->operand(1));
  switch (*op) {
    // Nothing may be reduced at all: the initial value is then the result.
    case Opcode::Maximum:
      return either(larger(value, initial), initial);
    case Opcode::Minimum:
      return either(smaller(value, initial), initial);
    case Opcode::Add: {
      const bool negative = value.negative || initial.negative;
      return {.negative = negative, .zero = true, .pos_inf = true, .neg_inf = negative};
    }
    default:
      return {};
  }
}

}  // namespace ncc::hlo_passes
