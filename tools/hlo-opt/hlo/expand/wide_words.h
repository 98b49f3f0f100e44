// 64-bit integers as pairs of u32 words, for expanders.
#pragma once
#include "tools/hlo-opt/hlo/expand/formula.h"

namespace ncc::hlo_passes {

struct Pair {
  Value low, high;
};

/// All ones where the sign bit of the word is set.
Value sign_mask(Value high);
Value is_zero(const Pair& a);
Pair choose(Value predicate, const Pair& a, const Pair& b);

Pair plus(const Pair& a, const Pair& b);
Pair minus(const Pair& a, const Pair& b);
Pair negative(const Pair& a);
Pair times(const Pair& a, const Pair& b);
/// Amounts of 64 and more, and negative ones, shift everything out.
Pair shifted_left(const Pair& a, const Pair& by);
Pair shifted_right(const Pair& a, const Pair& by, bool is_signed);
/// a < b of signed or unsigned pairs.
Value below(const Pair& a, const Pair& b, bool is_signed);

struct Division {
  Pair quotient, remainder;
};
/// Towards zero, bit by bit; x / 0 is all ones, x % 0 is x, and the least signed number / -1 is itself.
Division divided(const Pair& a, const Pair& b, bool is_signed);

}  // namespace ncc::hlo_passes
