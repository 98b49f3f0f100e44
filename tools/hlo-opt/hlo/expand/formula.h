// Formulas over HLO values, for expanders: arithmetic operators build instructions, numbers become constants
// of the other side's shape and element type.
//
//   Value x(edit, inst->operand(0));
//   edit.replace(inst, (1 / (1 + exp(-x))).inst());
#pragma once
#include <functional>
#include <utility>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// An array value of the computation that `edit` edits.
class Value {
 public:
  Value(ComputationEditor& edit, Instruction* inst) : edit_(&edit), inst_(inst) {}

  ComputationEditor& edit() const { return *edit_; }
  Instruction* inst() const { return inst_; }
  const Shape& shape() const { return inst_->shape; }
  Dtype dtype() const { return inst_->shape.dtype; }

  /// The number, everywhere in an array like this one.
  Value like(double number) const { return {*edit_, edit_->splat(inst_->shape, number)}; }
  Value to(Dtype dtype) const { return {*edit_, edit_->convert(inst_, dtype)}; }
  /// The same bits as an element type of the same width.
  Value bits_as(Dtype dtype) const;

 private:
  ComputationEditor* edit_;
  Instruction* inst_;
};

Value unary(Opcode opcode, Value x);
Value binary(Opcode opcode, Value a, Value b);
Value compare(hlo::CompareDirection direction, Value a, Value b);
Value select(Value predicate, Value on_true, Value on_false);

#define NCC_UNARY(function, opcode) \
  inline Value function(Value x) { return unary(Opcode::opcode, x); }
NCC_UNARY(abs, Abs)
NCC_UNARY(cos, Cos)
NCC_UNARY(exp, Exp)
NCC_UNARY(expm1, Expm1)
NCC_UNARY(log, Log)
NCC_UNARY(log1p, Log1p)
NCC_UNARY(rsqrt, Rsqrt)
NCC_UNARY(sign, Sign)
NCC_UNARY(sin, Sin)
NCC_UNARY(sqrt, Sqrt)
NCC_UNARY(tanh, Tanh)
NCC_UNARY(operator-, Negate)
NCC_UNARY(operator~, Not)
#undef NCC_UNARY

// Two values, a value and a number, a number and a value.
#define NCC_BINARY(function, opcode)                                               \
  inline Value function(Value a, Value b) { return binary(Opcode::opcode, a, b); } \
  inline Value function(Value a, double b) { return function(a, a.like(b)); }      \
  inline Value function(double a, Value b) { return function(b.like(a), b); }
NCC_BINARY(operator+, Add)
NCC_BINARY(operator-, Subtract)
NCC_BINARY(operator*, Multiply)
NCC_BINARY(operator/, Divide)
NCC_BINARY(operator%, Remainder)
NCC_BINARY(operator&, And)
NCC_BINARY(operator|, Or)
NCC_BINARY(operator^, Xor)
NCC_BINARY(operator<<, ShiftLeft)
NCC_BINARY(shift_right, ShiftRightLogical)
NCC_BINARY(shift_right_signed, ShiftRightArithmetic)
NCC_BINARY(max, Maximum)
NCC_BINARY(min, Minimum)
NCC_BINARY(pow, Power)
NCC_BINARY(atan2, Atan2)
#undef NCC_BINARY

// Predicates, named so because `==` on values reads as a question about the values themselves.
#define NCC_COMPARE(function, direction)                                                              \
  inline Value function(Value a, Value b) { return compare(hlo::CompareDirection::direction, a, b); } \
  inline Value function(Value a, double b) { return function(a, a.like(b)); }
NCC_COMPARE(equal, EQ)
NCC_COMPARE(not_equal, NE)
NCC_COMPARE(greater_equal, GE)
NCC_COMPARE(greater, GT)
NCC_COMPARE(less_equal, LE)
NCC_COMPARE(less, LT)
#undef NCC_COMPARE

inline Value is_nan(Value x) { return not_equal(x, x); }

/// f32 for floats of fewer bits, else the type itself: what formulas compute in.
Dtype formula_type(Dtype dtype);

using UnaryFormula = std::function<Value(Value)>;
using BinaryFormula = std::function<Value(Value, Value)>;

/// Replaces a floating-point op by a formula of its operands, computed in `formula_type` and rounded once to
/// the result's type. Complex ops, other element types and pinned instructions are left alone (false).
bool replace_by(ComputationEditor& edit, Instruction* inst, const UnaryFormula& formula);
bool replace_by(ComputationEditor& edit, Instruction* inst, const BinaryFormula& formula);

/// replace_by on every instruction of this opcode.
Status expand_each(hlo::Module& module, int64_t& changes, Opcode opcode, const UnaryFormula& formula);

}  // namespace ncc::hlo_passes
