#include "tools/hlo-opt/hlo/expand/wide_words.h"

#include "tools/hlo-opt/hlo/expand/loop.h"

namespace ncc::hlo_passes {
namespace {

Value as_word(Value predicate) { return predicate.to(Dtype::U32); }

// The upper word of a product of words, from 16-bit halves.
Value upper_product(Value a, Value b) {
  const Value al = a & 65535.0, ah = shift_right(a, 16.0), bl = b & 65535.0, bh = shift_right(b, 16.0);
  const Value ll = al * bl, lh = al * bh, hl = ah * bl;
  const Value middle = shift_right(ll, 16.0) + (lh & 65535.0) + (hl & 65535.0);
  return ah * bh + shift_right(lh, 16.0) + shift_right(hl, 16.0) + shift_right(middle, 16.0);
}

}  // namespace

Value sign_mask(Value high) { return shift_right_signed(high, 31.0); }

Pair plus(const Pair& a, const Pair& b) {
  const Value low = a.low + b.low;
  return {low, a.high + b.high + as_word(less(low, a.low))};
}

Pair minus(const Pair& a, const Pair& b) {
  return {a.low - b.low, a.high - b.high - as_word(less(a.low, b.low))};
}

Pair negative(const Pair& a) { return minus({a.low.like(0), a.low.like(0)}, a); }

Pair times(const Pair& a, const Pair& b) {
  return {a.low * b.low, upper_product(a.low, b.low) + a.low * b.high + a.high * b.low};
}

Pair choose(Value predicate, const Pair& a, const Pair& b) {
  return {select(predicate, a.low, b.low), select(predicate, a.high, b.high)};
}

// Amounts of 32 and more are shifts of a word by themselves: 32-bit shifts by 32 and more give 0, and so does
// a negative difference, read as unsigned.
Pair shifted_left(const Pair& a, const Pair& by) {
  const Value n = by.low, rest = 32.0 - n;
  const Value high = (a.high << n) | shift_right(a.low, rest) | (a.low << (n - 32.0));
  const Value in_range = equal(by.high, 0);
  const Pair result{a.low << n, select(equal(n, 0), a.high, high)};
  return choose(in_range, result, {n.like(0), n.like(0)});
}

Pair shifted_right(const Pair& a, const Pair& by, bool is_signed) {
  const Value n = by.low, rest = 32.0 - n;
  const Value fill = is_signed ? sign_mask(a.high) : a.high.like(0);
  const Value from_high = is_signed ? select(less(n, 32.0), n.like(0), shift_right_signed(a.high, n - 32.0))
                                    : shift_right(a.high, n - 32.0);
  const Value low = select(less(n, 32.0), shift_right(a.low, n) | (a.high << rest), from_high);
  const Value high = is_signed ? shift_right_signed(a.high, n) : shift_right(a.high, n);
  const Pair result{select(equal(n, 0), a.low, low), high};
  return choose(equal(by.high, 0), result, {fill, fill});
}

// a < b of signed or unsigned pairs: the sign bit is turned for signed ones.
Value below(const Pair& a, const Pair& b, bool is_signed) {
  const double turn = is_signed ? 2147483648.0 : 0.0;
  const Value ah = a.high ^ turn, bh = b.high ^ turn;
  return less(ah, bh) | (equal(ah, bh) & less(a.low, b.low));
}

Value is_zero(const Pair& a) { return equal(a.low | a.high, 0); }

namespace {

Pair doubled(const Pair& a) { return {a.low << 1.0, (a.high << 1.0) | shift_right(a.low, 31.0)}; }

// The remainder takes one bit of the dividend after the other, and gives the divisor off where it can.
Division divided_unsigned(const Pair& a, const Pair& b) {
  constexpr int64_t kBits = 64;
  Instruction* none = a.low.like(0).inst();
  const auto values = counted_loop(
      a.low.edit(), kBits, {a.low.inst(), a.high.inst(), none, none, b.low.inst(), b.high.inst()},
      [](ComputationEditor& edit, Instruction*, const std::vector<Instruction*>& v) {
        const auto pair = [&](size_t i) { return Pair{Value(edit, v[i]), Value(edit, v[i + 1])}; };
        const Pair dividend = pair(0), divisor = pair(4);
        const Pair before = pair(2);
        // A remainder with its top bit set exceeds every divisor once it is doubled.
        const Value overflows = not_equal(shift_right(before.high, 31.0), 0);
        Pair rest = doubled(before);
        rest.low = rest.low | shift_right(dividend.high, 31.0);
        const Value fits = overflows | ~below(rest, divisor, false);
        rest = choose(fits, minus(rest, divisor), rest);
        // The quotient grows where the dividend has been used up.
        Pair quotient = doubled(dividend);
        quotient.low = quotient.low | as_word(fits);
        return std::vector<Instruction*>{
            quotient.low.inst(), quotient.high.inst(), rest.low.inst(), rest.high.inst(), v[4], v[5]};
      });
  ComputationEditor& edit = a.low.edit();
  return {{Value(edit, values[0]), Value(edit, values[1])}, {Value(edit, values[2]), Value(edit, values[3])}};
}

}  // namespace

Division divided(const Pair& a, const Pair& b, bool is_signed) {
  if (!is_signed) return divided_unsigned(a, b);
  const Value a_negative = not_equal(sign_mask(a.high), 0), b_negative = not_equal(sign_mask(b.high), 0);
  const Division magnitudes =
      divided_unsigned(choose(a_negative, negative(a), a), choose(b_negative, negative(b), b));
  const Pair& quotient = magnitudes.quotient;
  const Value ones = ~a.low.like(0);
  return {choose(is_zero(b), {ones, ones}, choose(a_negative ^ b_negative, negative(quotient), quotient)),
          choose(a_negative, negative(magnitudes.remainder), magnitudes.remainder)};
}

}  // namespace ncc::hlo_passes
