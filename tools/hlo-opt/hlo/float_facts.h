// What a real floating-point value can be, as far as the op that makes it and its operands say: signs, zero,
// infinities. NaN is always possible. Facts are found operands first, in one visit per instruction; values of
// other computations (parameters, elements of a loop's state) can be anything.
#pragma once
#include <unordered_map>

#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {

struct FloatFacts {
  bool negative = true;  // below zero, negative infinity included
  bool zero = true;      // of either sign
  bool pos_inf = true;
  bool neg_inf = true;

  bool is_infinite() const { return pos_inf || neg_inf; }
  bool operator==(const FloatFacts&) const = default;
};

class FloatFactTable {
 public:
  /// Of a visited value; everything is possible for others. Integers are asked through a convert only.
  FloatFacts of(const Instruction* value) const;
  /// Finds the facts of an instruction from those of its operands.
  void visit(const Instruction* inst);
  void set(const Instruction* value, FloatFacts facts) { facts_[value] = facts; }

 private:
  FloatFacts derive(const Instruction* inst) const;
  FloatFacts of_unary(const Instruction* inst) const;
  FloatFacts of_binary(const Instruction* inst) const;
  FloatFacts of_convert(const Instruction* inst) const;
  FloatFacts of_reduce(const Instruction* inst) const;
  FloatFacts any_of(const Instruction* inst, int64_t first, int64_t last) const;

  std::unordered_map<const Instruction*, FloatFacts> facts_;
};

/// False for the types that have no infinity (f8e4m3fn, …).
bool has_infinity(Dtype dtype);
/// The largest finite value of a floating-point type.
double largest_finite(Dtype dtype);

}  // namespace ncc::hlo_passes
