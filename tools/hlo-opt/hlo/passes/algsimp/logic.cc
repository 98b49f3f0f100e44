// Bits, predicates, choices and comparisons.
#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

using hlo::CompareDirection;

// Zero bits: an integer 0 or false.
bool is_no_bits(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal) return false;
  const Dtype dtype = literal->shape().dtype;
  return (dtype == Dtype::Pred || is_integer(dtype)) && literal->as_int64(0) == 0;
}

Instruction* no_bits(ComputationEditor& edit, const Shape& shape) {
  return edit.broadcast_scalar(edit.constant(Literal::scalar_int(shape.dtype, 0)), shape.dims);
}

CompareDirection opposite(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::EQ:
      return CompareDirection::NE;
    case CompareDirection::NE:
      return CompareDirection::EQ;
    case CompareDirection::GE:
      return CompareDirection::LT;
    case CompareDirection::LT:
      return CompareDirection::GE;
    case CompareDirection::GT:
      return CompareDirection::LE;
    case CompareDirection::LE:
      return CompareDirection::GT;
  }
  return direction;
}

// With NaN neither a < b nor a >= b holds; EQ and NE are opposites always.
bool has_opposite(const Instruction& compare) {
  return compare.direction == CompareDirection::EQ || compare.direction == CompareDirection::NE ||
         is_int(compare.operand(0)) || is_pred(compare.operand(0)) ||
         compare.compare_type == hlo::CompareType::TotalOrder;
}

std::optional<bool> pred_value(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal || literal->shape().dtype != Dtype::Pred) return std::nullopt;
  return literal->as_int64(0) != 0;
}

}  // namespace

Instruction* simplify_and(ComputationEditor&, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (a == b || is_all_ones(b) || is_no_bits(a)) return a;
  if (is_all_ones(a) || is_no_bits(b)) return b;
  return nullptr;
}

Instruction* simplify_or(ComputationEditor&, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (a == b || is_no_bits(b) || is_all_ones(a)) return a;
  if (is_no_bits(a) || is_all_ones(b)) return b;
  return nullptr;
}

Instruction* simplify_xor(ComputationEditor& edit, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  if (is_no_bits(b)) return a;
  if (is_no_bits(a)) return b;
  if (a == b) return no_bits(edit, inst->shape);
  if (is_all_ones(b)) return edit.apply(Opcode::Not, {a});
  if (is_all_ones(a)) return edit.apply(Opcode::Not, {b});
  return nullptr;
}

Instruction* simplify_not(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->is(Opcode::Not)) return x->operand(0);
  if (x->is(Opcode::Compare) && edit.has_one_use(x) && has_opposite(*x)) {
    Instruction* compare = edit.clone(x, x->operands);
    compare->direction = opposite(x->direction);
    return compare;
  }
  return nullptr;
}

Instruction* simplify_shift(ComputationEditor&, Instruction* inst) {
  return is_no_bits(inst->operand(1)) || is_no_bits(inst->operand(0)) ? inst->operand(0) : nullptr;
}

Instruction* simplify_select(ComputationEditor& edit, Instruction* inst) {
  Instruction *p = inst->operand(0), *a = inst->operand(1), *b = inst->operand(2);
  if (a == b) return a;
  if (const auto known = pred_value(p)) return *known ? a : b;
  if (p->is(Opcode::Not)) return edit.clone(inst, {p->operand(0), b, a});
  if (a->is(Opcode::Select) && a->operand(0) == p) return edit.clone(inst, {p, a->operand(1), b});
  if (b->is(Opcode::Select) && b->operand(0) == p) return edit.clone(inst, {p, a, b->operand(2)});
  if (is_pred(a) && p->shape.dims == inst->shape.dims) {
    const auto on_true = pred_value(a), on_false = pred_value(b);
    if (on_true && on_false && *on_true != *on_false) return *on_true ? p : edit.apply(Opcode::Not, {p});
  }
  return nullptr;
}

Instruction* simplify_compare(ComputationEditor& edit, Instruction* inst) {
  Instruction *a = inst->operand(0), *b = inst->operand(1);
  const auto truth = [&](bool value) {
    return edit.broadcast_scalar(edit.constant(Literal::scalar_int(Dtype::Pred, value)), inst->shape.dims);
  };
  if (is_unsigned_int(a->shape.dtype)) {
    if (is_splat(b, 0) && inst->direction == CompareDirection::LT) return truth(false);
    if (is_splat(b, 0) && inst->direction == CompareDirection::GE) return truth(true);
    if (is_splat(a, 0) && inst->direction == CompareDirection::GT) return truth(false);
    if (is_splat(a, 0) && inst->direction == CompareDirection::LE) return truth(true);
  }
  if (is_pred(a) && (inst->direction == CompareDirection::EQ || inst->direction == CompareDirection::NE)) {
    for (int64_t i : {0, 1}) {
      const auto known = pred_value(inst->operand(1 - i));
      if (!known) continue;
      Instruction* x = inst->operand(i);
      const bool same = *known == (inst->direction == CompareDirection::EQ);
      return same ? x : edit.apply(Opcode::Not, {x});
    }
  }
  return nullptr;
}

}  // namespace ncc::hlo_passes::algsimp_rules
