// Integer division, truncating towards zero. x / 0 = -1 (all ones), x % 0 = x, min / -1 = min, min % -1 = 0,
// as XLA gives. Source: spec/stablehlo-text.md §3.1, DESIGN C5.
#include <algorithm>

#include "tools/hlo-opt/passes/expand_math/integer.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

struct Division {
  Value quotient, remainder;
};

// An integer of at most floor(a / b), and less than it by at most one unit plus 2^-20 of it: the quotient's
// fp32 error is outweighed by the factor below 1, and rounding to nearest by the subtracted half.
Value quotient_from_below(Value a, Value b_in_f32) {
  const Value estimate = (a / b_in_f32) * (1 - 0x1p-21f) - 0.5f;
  return a.graph->round_to(estimate, Dtype::U32);
}

// u32 by u32. The first estimate leaves a remainder below 2^13 b, the second one below 2 b, a comparison
// decides the last unit. For b = 0 the remainder is a and the quotient meaningless.
Division divide_unsigned(Value a, Value b) {
  Graph& graph = *a.graph;
  const Value divisor = graph.copy(b, Dtype::F32);
  const Value first = quotient_from_below(a, divisor);
  const Value rest = subtract32(a, multiply32(first, b));
  const Value second = quotient_from_below(rest, divisor);
  const Value last = subtract32(rest, multiply32(second, b));
  const Value unit = graph.copy(compare_integers(AluOp::IsGe, last, b), Dtype::U32);
  return {add32(add32(first, second), unit), subtract32(last, multiply32(unit, b))};
}

Value magnitude32(Value a) {
  if (is_unsigned_int(a.dtype())) return a;
  return a.graph->bitcast(multiply32(a, sign_factor(a)), Dtype::U32);
}

Value divide_wide(Value a, Value b) {
  Graph& graph = *a.graph;
  // Pool's own division has XLA's special cases.
  if (graph.arch().pool_int32_sub_div_mod) return graph.int32(AluOp::Divide, a, b);
  const Division division = divide_unsigned(magnitude32(a), magnitude32(b));
  Value quotient = graph.bitcast(division.quotient, a.dtype());
  if (is_signed_int(a.dtype()))
    quotient = multiply32(quotient, sign_factor(graph.bits(AluOp::BitwiseXor, a, b)));
  return select(test(AluOp::IsEqual, b, 0), graph.integer(a.dtype(), -1), quotient);
}

Value remainder_wide(Value a, Value b) {
  Graph& graph = *a.graph;
  if (graph.arch().pool_int32_sub_div_mod)
    return subtract32(a, multiply32(graph.int32(AluOp::Divide, a, b), b));
  const Division division = divide_unsigned(magnitude32(a), magnitude32(b));
  const Value remainder = graph.bitcast(division.remainder, a.dtype());
  return is_signed_int(a.dtype()) ? multiply32(remainder, sign_factor(a)) : remainder;
}

// Operands below 2^24: fl(a / b) truncates to the right integer, because a quotient that is not an integer is
// at least 1/b away from one, which is more than its rounding error.
Value divide_in_f32(Value a, Value b, Dtype type) {
  const Value quotient = a / b;
  const bool may_be_negative = is_signed_int(a.dtype()) && (a.range().low < 0 || b.range().low < 0);
  const Value whole = quotient - mod(quotient, may_be_negative ? sign_as_one(quotient) : a.graph->f32(1));
  const double largest = std::max(a.range().high, -a.range().low);
  a.graph->narrow_range(whole, {may_be_negative ? -largest : 0, largest});
  const Value wrapped = wrap(whole, type);
  if (b.range().low > 0 || b.range().high < 0) return wrapped;
  return select(test(AluOp::IsEqual, b, 0), a.graph->integer(type, -1), wrapped);
}

Value remainder_in_f32(Value a, Value b, Dtype type) {
  Graph& graph = *a.graph;
  const Value magnitude = mod(abs(a), abs(b));
  const Value signed_rest = a.range().low < 0 ? magnitude * min(max(a, -1), 1) : magnitude;
  const Value rest = graph.round_to(signed_rest, type);
  if (b.range().low > 0 || b.range().high < 0) return rest;
  return select(test(AluOp::IsEqual, b, 0), a, rest);
}

bool fits_f32(const Request& r) { return is_exact_in_f32(r.a().range()) && is_exact_in_f32(r.b().range()); }

// The k of a positive constant 2^k; -1 otherwise.
int power_of_two(Value b) {
  if (!b.is_scalar()) return -1;
  const double value = b.range().low;
  for (int k = 0; k < 31; ++k)
    if (value == static_cast<double>(int64_t{1} << k)) return k;
  return -1;
}

}  // namespace

Value divide_integer(const Request& r) {
  const int shift = power_of_two(r.b());
  const Value a = r.a();
  if (shift == 0) return a;
  if (shift > 0 && is_non_negative(a.range())) return shift_right_logical(a, shift);
  if (shift > 0 && is_wide(r.result)) {
    // Truncation adds 2^k - 1 to negative values before the shift rounds down.
    const Value bias = bit_and(shift_right_arithmetic(a, 31), (int64_t{1} << shift) - 1);
    return shift_right_arithmetic(add32(a, bias), shift);
  }
  return fits_f32(r) ? divide_in_f32(a, r.b(), r.result) : divide_wide(a, r.b());
}

Value remainder_integer(const Request& r) {
  const int shift = power_of_two(r.b());
  if (shift >= 0 && is_non_negative(r.a().range())) return bit_and(r.a(), (int64_t{1} << shift) - 1);
  return fits_f32(r) ? remainder_in_f32(r.a(), r.b(), r.result) : remainder_wide(r.a(), r.b());
}

}  // namespace ncc::hlo_opt::math_expansion
