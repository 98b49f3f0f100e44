// Convert and bitcast. The machine's casts go through fp32, round to nearest even and saturate; XLA truncates
// floats, wraps integers and turns NaN into 0. Source: spec/stablehlo-text.md §3.4,
// spec/simulator-numerics.md §5.2.
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/integer.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

// x - mod(x, +-1), where mod takes the sign of its divisor: truncation for either sign. The bounds keep
// infinities out of mod and lie beyond every integer type; NaN becomes 0 first.
Value truncate_to(Value x, Dtype type) {
  Graph& graph = *x.graph;
  const Value number = select(test(AluOp::IsEqual, x, x), x, 0);
  const Value bounded = min(max(number, -0x1p33f), 0x1p33f);
  const bool may_be_negative = x.range().low < 0 && is_signed_int(type);
  const Value fraction = may_be_negative ? mod(bounded, sign_as_one(bounded)) : mod(bounded, 1);
  return graph.alu(AluOp::Subtract, bounded, fraction, type);
}

// bf16 keeps 8 bits of an integer that fp32 may already have rounded to 24. Above 2^24 the low 9 bits are
// therefore gathered in one before rounding; they are then below the last bit that fp32 keeps, but still say
// "not a tie".
Value wide_integer_to_bf16(Value x) {
  Graph& graph = *x.graph;
  const Value low = bit_and(x, 0x1FF);
  const Value sticky = graph.alu(AluOp::Mult, is(AluOp::NotEqual, low, 0), graph.f32(256), x.dtype());
  const Value gathered = graph.bits(AluOp::BitwiseOr, bit_and(x, ~int64_t{0x1FF}), sticky);
  const Value is_large = test(AluOp::IsGe, abs(x), 0x1p24f);
  return graph.copy(select(is_large, gathered, x), Dtype::BF16);
}

}  // namespace

Value convert_float(const Request& r) {
  if (r.result == Dtype::Pred) return test(AluOp::NotEqual, r.a(), 0);
  if (is_integer(r.result)) return truncate_to(r.a(), r.result);
  return r.graph.copy(r.a(), r.result);
}

Value convert_integer(const Request& r) {
  const Value x = r.a();
  if (r.result == Dtype::Pred) return test(AluOp::NotEqual, x, 0);
  if (is_float(r.result)) {
    if (r.result == Dtype::BF16 && !is_exact_in_f32(x.range())) return wide_integer_to_bf16(x);
    return r.graph.copy(x, r.result);
  }
  if (info(x.dtype()).bits == info(r.result).bits) return r.graph.bitcast(x, r.result);
  if (info(x.dtype()).bits < info(r.result).bits) {
    // The source's own sign extends; a negative value then wraps into an unsigned type.
    const bool extends_sign = is_signed_int(x.dtype());
    const Dtype extended = extends_sign ? signed_type(r.result) : r.result;
    return r.graph.bitcast(r.graph.copy(x, extended), r.result);
  }
  return wrap(to_wide(x), r.result);
}

Value convert_pred(const Request& r) { return r.graph.copy(r.a(), r.result); }

Value bitcast_convert(const Request& r) { return r.graph.bitcast(r.a(), r.result); }

}  // namespace ncc::hlo_opt::math_expansion
