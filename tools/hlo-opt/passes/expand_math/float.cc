// Arithmetic, rounding and classification of floats. The machine adds, multiplies, divides and compares as
// IEEE fp32; rounding to an integer is made of its exact floor-mod, since it has no such instruction. Source:
// spec/stablehlo-text.md §3.2, DESIGN N2.
#include <cmath>
#include <limits>

#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// From here on every fp32 number is an integer.
constexpr float kAllIntegers = 0x1p24f;

// The fraction |x| - floor(|x|), exact; 0 for infinities.
Value fraction_of_magnitude(Value x) { return mod(min(abs(x), kAllIntegers), 1); }

}  // namespace

Value abs_float(const Request& r) { return abs(r.a()); }
Value negate_float(const Request& r) { return -r.a(); }
Value add_float(const Request& r) { return r.a() + r.b(); }
Value subtract_float(const Request& r) { return r.a() - r.b(); }
Value multiply_float(const Request& r) { return r.a() * r.b(); }
Value divide_float(const Request& r) { return r.a() / r.b(); }
Value maximum_float(const Request& r) { return max(r.a(), r.b()); }
Value minimum_float(const Request& r) { return min(r.a(), r.b()); }
Value square_float(const Request& r) { return r.a() * r.a(); }
Value power_float(const Request& r) { return pow(r.a(), r.b()); }

Value clamp_float(const Request& r) {
  const Value raised = max(r.x[1], r.x[0]);
  return r.graph.alu(AluOp::Min, raised, r.x[2], r.result);
}

Value select_any(const Request& r) { return select(r.x[0], r.x[1], r.x[2]); }

// x - mod(x, 1). The bounds keep infinities out of mod; its zero is +0, like the divisor, so that the sign of
// x stays.
Value floor_float(const Request& r) {
  const Value bounded = min(max(r.a(), -kAllIntegers), kAllIntegers);
  return r.a() - mod(bounded, 1);
}

// -floor(-x): negating last gives -0 for x in (-1, 0].
Value ceil_float(const Request& r) {
  const Value negated = -r.a();
  const Value bounded = min(max(negated, -kAllIntegers), kAllIntegers);
  return -(negated - mod(bounded, 1));
}

// Adding and subtracting 2^23 rounds |x| below 2^23 to an integer; the difference is exact, and 0 for all
// that is larger.
Value round_nearest_even(const Request& r) {
  const Value bounded = min(abs(r.a()), 0x1p23f);
  const Value excess = bounded - ((bounded + 0x1p23f) - 0x1p23f);
  return with_sign_of(r.graph.round_to(abs(r.a()) - excess, r.a().dtype()), r.a());
}

Value round_nearest_afz(const Request& r) {
  const Value fraction = fraction_of_magnitude(r.a());
  const Value magnitude = (abs(r.a()) - fraction) + is(AluOp::IsGe, fraction, 0.5f);
  return with_sign_of(r.graph.round_to(magnitude, r.a().dtype()), r.a());
}

// The engine's Sign keeps signed zeros and NaN.
Value sign_float(const Request& r) { return activate(isa::ActivationFunction::Sign, r.a()); }

// C fmod: the sign of the dividend.
Value remainder_float(const Request& r) {
  const Value magnitude = mod(abs(r.a()), abs(r.b()));
  return with_sign_of(r.graph.round_to(magnitude, r.a().dtype()), r.a());
}

Value is_finite(const Request& r) { return test(AluOp::IsLt, abs(r.a()), kInfinity); }
Value is_inf(const Request& r) { return test(AluOp::IsEqual, abs(r.a()), kInfinity); }
Value is_neg_inf(const Request& r) { return test(AluOp::IsEqual, r.a(), -kInfinity); }
Value is_pos_inf(const Request& r) { return test(AluOp::IsEqual, r.a(), kInfinity); }

// Rounds in the bits of the operand's own format (subnormals keep their fixed point), then moves what lies
// outside the target's exponents to zero and infinity by multiplying with 0, 1 or a huge number.
Value reduce_precision(const Request& r) {
  Graph& graph = r.graph;
  const Dtype type = r.a().dtype();
  const int mantissa = type == Dtype::F32 ? 23 : (type == Dtype::F16 ? 10 : 7);
  const int exponent = type == Dtype::F16 ? 5 : 8;
  const int dropped = mantissa - r.attributes.mantissa_bits;
  Value result = r.a();
  if (dropped > 0) {
    const Dtype raw = type == Dtype::F32 ? Dtype::U32 : Dtype::U16;
    const Value all = graph.copy(graph.bitcast(r.a(), raw), Dtype::U32);
    const Value odd = graph.bits(
        AluOp::BitwiseAnd, graph.bits(AluOp::LogicalShiftRight, all, graph.integer(Dtype::U32, dropped)),
        graph.integer(Dtype::U32, 1));
    const int64_t below_half = (int64_t{1} << (dropped - 1)) - 1;
    const Value raised =
        graph.int32(AluOp::Add, graph.int32(AluOp::Add, all, odd), graph.integer(Dtype::U32, below_half));
    const Value kept =
        graph.bits(AluOp::BitwiseAnd, raised, graph.integer(Dtype::U32, ~((int64_t{1} << dropped) - 1)));
    // A NaN stays as it is, or becomes infinite when no mantissa bit is left to say so.
    const Value rounded = graph.bitcast(graph.copy(kept, raw), type);
    if (r.attributes.mantissa_bits > 0) {
      result = select(test(AluOp::IsEqual, r.a(), r.a()), rounded, r.a());
    } else {
      result = select(test(AluOp::IsEqual, r.a(), r.a()), rounded, kInfinity);
    }
  }
  if (r.attributes.exponent_bits < exponent) {
    const int bias = (1 << (r.attributes.exponent_bits - 1)) - 1;
    const Value magnitude = abs(result);
    const Value overflow = is(AluOp::IsGe, magnitude, std::ldexp(1.0f, bias + 1)) * 0x1p127f + 1;
    const Value normal = is(AluOp::IsGe, magnitude, std::ldexp(1.0f, 1 - bias));
    result = (result * normal) * overflow;
  }
  return result;
}

}  // namespace ncc::hlo_opt::math_expansion
