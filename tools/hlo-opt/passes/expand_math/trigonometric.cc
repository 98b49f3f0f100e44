// Sine, cosine, tangent and the inverse functions. Sin takes [-pi, pi] and Arctan [-pi/2, pi/2]; the rest is
// reduction.
//   |x| <= 2^16: x - h pi with pi cut into pieces of 8 bits, so that every product with the 16-bit multiplier
//   h is exact. beyond: the fraction of x / 2 pi in 32-bit fixed point, out of the words of 1 / 2 pi that
//   start at the exponent of x (Payne and Hanek). It is computed only where x may be that large, since no
//   instruction can skip elements.
#include <array>
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/integer.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/transcendental.h"

namespace ncc::hlo_opt::math_expansion {

using isa::ActivationFunction;
using isa::AluOp;

namespace {

constexpr float kHalfPi = 1.57079632679489661923f;
constexpr float kSmallLimit = 0x1p16f;
// pi = the sum; 8 bits each but the last.
constexpr float kPiPieces[] = {0x1.92p+1f, 0x1.ep-11f, 0x1.b4p-15f, 0x1.44p-23f, 0x1.0b4612p-33f};
// The fraction bits of 1 / (2 pi), eight zeros first: word k has weight 2^(-32 k - 24).
constexpr std::array<uint32_t, 6> kInverseTwoPi = {0x0028be60, 0xdb939105, 0x4a7f09d5,
                                                   0xf47d4d37, 0x7036d8a5, 0x664f10e4};

Value round_to_integer(Value x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

// 1 for even n, -1 for odd n.
Value alternating_sign(Value n) { return mod(n, 2) * -2.0f + 1.0f; }

// An angle in [-pi/2, pi/2] with the same sine as x (or, for cosine, as x + pi/2), for |x| <= 2^16.
Value reduce_small(Value x, bool is_cosine) {
  const Value turns = round_to_integer(is_cosine ? x * 0x1.45f306p-2f + 0.5f : x * 0x1.45f306p-2f);
  const Value multiplier = is_cosine ? turns - 0.5f : turns;
  Value rest = x;
  for (float piece : kPiPieces) rest = multiplier * -piece + rest;
  return rest * alternating_sign(turns);
}

// The words of 1 / (2 pi) that give the fraction of mantissa * 2^exponent / (2 pi), and the mantissa (24
// bits).
struct Window {
  Value mantissa, high, low;
};

Window window_of(Value x) {
  Graph& graph = *x.graph;
  auto word = [&](uint32_t bits) { return graph.integer(Dtype::S32, static_cast<int32_t>(bits)); };
  const Value bits = graph.bitcast(x, Dtype::S32);
  // Counts from the first bit of the table: 2^-8 times the weight of the mantissa's last bit.
  const Value start =
      graph.alu(AluOp::Add, bit_and(shift_right_logical(bits, 23), 255), graph.f32(-142), Dtype::S32);
  const Value mantissa = bit_or(bit_and(bits, 0x7FFFFF), 0x800000);
  std::array<Value, 3> beyond;  // all ones where the window starts in word 1, 2, 3 or later
  for (int k = 0; k < 3; ++k)
    beyond[static_cast<size_t>(k)] = graph.alu(
        AluOp::Mult, is(AluOp::IsGe, start, static_cast<float>(32 * (k + 1))), graph.f32(-1), Dtype::S32);
  auto select_word = [&](size_t offset) {
    Value chosen = word(kInverseTwoPi[offset]);
    for (size_t k = 0; k < beyond.size(); ++k) {
      const uint32_t change = kInverseTwoPi[offset + k] ^ kInverseTwoPi[offset + k + 1];
      chosen = graph.bits(AluOp::BitwiseXor, graph.bits(AluOp::BitwiseAnd, beyond[k], word(change)), chosen);
    }
    return chosen;
  };
  const Value first = select_word(0), second = select_word(1), third = select_word(2);
  const Value left = bit_and(start, 31);
  const Value right =
      graph.alu(AluOp::Subtract, graph.f32(32), left, Dtype::S32);  // 32 shifts everything out
  auto joined = [&](Value above, Value below) {
    return graph.bits(AluOp::BitwiseOr, graph.bits(AluOp::LogicalShiftLeft, above, left),
                      graph.bits(AluOp::LogicalShiftRight, below, right));
  };
  return {mantissa, joined(first, second), joined(second, third)};
}

// The same as reduce_small for |x| > 2^16. The phase is kept modulo one turn in units of 2^-32; what mantissa
// * low adds to it is computed in parts of 12 by 16 bits, down to 2^-12 of such a unit.
Value reduce_large(Value x, bool is_cosine) {
  Graph& graph = *x.graph;
  const Window window = window_of(x);
  const Value upper = shift_right_logical(window.mantissa, 12), lower = bit_and(window.mantissa, 0xFFF);
  const Value low_upper = shift_right_logical(window.low, 16), low_lower = bit_and(window.low, 0xFFFF);
  const Value top = multiply32(upper, low_upper);
  Value phase = add32(multiply32(window.mantissa, window.high), shift_right_logical(top, 4));
  if (is_cosine) phase = add32(phase, graph.integer(Dtype::S32, 0x40000000));
  const Value below_unit =
      ((multiply32(lower, low_lower) * 0x1p-32f + multiply32(upper, low_lower) * 0x1p-20f) +
       multiply32(lower, low_upper) * 0x1p-16f) +
      bit_and(top, 15) * 0x1p-4f;
  // Half a turn is the unit now: the nearest integer of them gives the sign, the rest the angle.
  const Value odd = shift_right_logical(add32(phase, graph.integer(Dtype::S32, 0x40000000)), 31);
  const Value angle = (below_unit * 2.0f + shift_left(phase, 1)) * 0x1.921fb6p-31f;
  const Value reduced = angle * (odd * -2.0f + 1.0f);
  // Infinity and NaN: times zero gives NaN.
  const Value invalid = x * 0.0f;
  return (is_cosine ? reduced : reduced * sign_as_one(x)) + invalid;
}

Value sine_of(Value x, bool is_cosine) {
  Graph& graph = *x.graph;
  const Range range = x.range();
  const bool is_f16 = x.dtype() == Dtype::F16;
  if (!is_cosine && range.low >= -3.14159 && range.high <= 3.14159)
    return activate(ActivationFunction::Sin, x);
  const Value angle = graph.copy(x, Dtype::F32);
  const Value small = reduce_small(angle, is_cosine);
  if (is_f16 || (range.low >= -kSmallLimit && range.high <= kSmallLimit))
    return activate(ActivationFunction::Sin, small);
  const Value is_large = test(AluOp::IsGt, abs(angle), kSmallLimit);
  return activate(ActivationFunction::Sin, select(is_large, reduce_large(angle, is_cosine), small));
}

}  // namespace

Value sin(Value x) { return sine_of(x, false); }
Value cos(Value x) { return sine_of(x, true); }

// Beyond 1 the argument becomes 1 / x, and the result pi/2 minus that of it.
Value arctan_of_magnitude(Value magnitude) {
  const Value inner = activate(ActivationFunction::Arctan, min(magnitude, 1.0f / magnitude));
  const Value beyond = is(AluOp::IsGt, magnitude, 1);
  return inner * (beyond * -2.0f + 1.0f) + beyond * kHalfPi;
}

Value sine(const Request& r) { return sin(r.a()); }
Value cosine(const Request& r) { return cos(r.a()); }
// Each part reduces its own argument, so that neither loses bits near its zeros.
Value tangent(const Request& r) { return sin(r.a()) / cos(r.a()); }

Value arctan(const Request& r) {
  return with_sign_of(r.graph.round_to(arctan_of_magnitude(abs(r.a())), r.a().dtype()), r.a());
}

// The angle of (|x|, |y|) in the first octant, then the octant. Adding 2^-149 to nothing but a zero divisor
// makes 0 / 0 = 0; of two infinities the dividend is bounded and 1 is added.
Value arctan2(const Request& r) {
  const Value y = r.a(), x = r.b();
  const Value height = abs(y), width = abs(x);
  const Value less = min(height, width), more = max(height, width);
  const Value both_infinite = is(AluOp::IsEqual, less, INFINITY);
  const Value ratio = min(less, std::numeric_limits<float>::max()) / max(more, 0x1p-149f) + both_infinite;
  const Value inner = activate(ActivationFunction::Arctan, ratio);
  const Value is_steep = is(AluOp::IsGt, height, width);
  const Value quadrant = inner * (is_steep * -2.0f + 1.0f) + is_steep * kHalfPi;
  const Value side = sign_as_one(x);
  const Value angle = quadrant * side + (side * -kHalfPi + kHalfPi);
  return with_sign_of(r.graph.round_to(angle, y.dtype()), y);
}

// atan(x / sqrt(1 - x^2)); 1 - x is exact near 1. Beyond 1 the root is NaN.
Value arcsin(const Request& r) {
  const Value magnitude = abs(r.a());
  const Value inverse_root = r.graph.alu(AluOp::Rsqrt, (1.0f - magnitude) * (magnitude + 1.0f));
  return with_sign_of(r.graph.round_to(arctan_of_magnitude(magnitude * inverse_root), r.a().dtype()), r.a());
}

// 2 atan(sqrt((1 - x) / (1 + x))).
Value arccos(const Request& r) { return arctan_of_magnitude(sqrt((1.0f - r.a()) / (r.a() + 1.0f))) * 2.0f; }

}  // namespace ncc::hlo_opt::math_expansion
