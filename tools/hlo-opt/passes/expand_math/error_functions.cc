// erfc, the inverse of erf, the scaled Bessel function I1, and next_after. The polynomials are Chebyshev
// interpolants of the named functions in the scaled variables, rounded to fp32; their relative error is below
// 5 * 2^-24.
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/integer.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/transcendental.h"

namespace ncc::hlo_opt::math_expansion {

using isa::AluOp;

// For a = |x| and t = 1 / (1 + a / 2): erfc(a) = t F(t) e^(-a^2), F smooth on [0.158, 1]. The square is cut
// in two, so that its rounding error does not reach the exponent: a = h + l with h of 12 bits, a^2 = h^2 + l
// (a + h). erfc(-a) = 2 - erfc(a).
Value erfc_float(const Request& r) {
  static constexpr float kF[] = {0x1.232382p-1f,   0x1.4f550ep-2f,   0x1.a9db72p-4f,  0x1.a45d7ep-8f,
                                 -0x1.a218f0p-8f,  -0x1.6ad57cp-11f, 0x1.4c6122p-11f, 0x1.8013e2p-17f,
                                 -0x1.30967cp-14f, 0x1.b49bbcp-18f,  0x1.8ccf0ep-18f};
  const Value magnitude = min(abs(r.a()), 10.5f);  // beyond, the result is below half the smallest subnormal
  const Value t = 1.0f / (magnitude * 0.5f + 1.0f);
  const Value factor = polynomial((t - 0.579f) * (1.0f / 0.421f), kF) * t;
  const Value spread = magnitude * 4097.0f;
  const Value high = spread - (spread - magnitude);
  const Value low = magnitude - high;
  const Value tail = (exp(-(low * (magnitude + high))) * factor) * exp(-(high * high));
  const Value side = sign_as_one(r.a());
  return tail * side + (1.0f - side);
}

// Giles' approximation, the one of XLA: x P(w), w = -ln(1 - x^2), in w below 5 and in its root above. +-1
// divide by zero.
Value erf_inverse(const Request& r) {
  static constexpr float kCentral[] = {1.50140941f,     0.246640727f,    -0.00417768164f,
                                       -0.00125372503f, 0.00021858087f,  -4.39150654e-06f,
                                       -3.5233877e-06f, 3.43273939e-07f, 2.81022636e-08f};
  static constexpr float kTail[] = {2.83297682f,    1.00167406f,     0.00943887047f,
                                    -0.0076224613f, 0.00573950773f,  -0.00367342844f,
                                    0.00134934322f, 0.000100950558f, -0.000200214257f};
  const Value x = r.graph.copy(r.a(), Dtype::F32);
  const Value complement = (1.0f - x) * (x + 1.0f);
  r.graph.narrow_range(complement, {-INFINITY, 1});
  const Value w = min(-log(complement), 20.0f);
  const Value central = polynomial(w - 2.5f, kCentral);
  const Value tail = polynomial(sqrt(max(w, 0)) - 3.0f, kTail);
  const Value value = select(test(AluOp::IsLt, w, 5), central, tail) * x;
  return value / (1.0f - is(AluOp::IsGe, abs(x), 1));
}

// e^-|x| I1(x): x P(x / 4 - 1) up to 8, then Q(16 / x - 1) / sqrt(x).
Value bessel_i1e(const Request& r) {
  static constexpr float kNear[] = {
      0x1.6e14ecp-5f, -0x1.f4bb08p-5f,  0x1.16c382p-4f,  -0x1.188132p-4f,  0x1.053280p-4f,  -0x1.c4dbbep-5f,
      0x1.6dda26p-5f, -0x1.13cabep-5f,  0x1.854fa0p-6f,  -0x1.ff219ep-7f,  0x1.330516p-7f,  -0x1.65a7f4p-8f,
      0x1.b842fcp-9f, -0x1.b4cb3ep-10f, 0x1.b109e4p-12f, -0x1.cfcb06p-13f, 0x1.41f1a4p-12f, -0x1.f47262p-14f};
  static constexpr float kFar[] = {0x1.8ebe78p-2f,   -0x1.3f7964p-7f,  -0x1.cba112p-13f,
                                   -0x1.f7d43cp-17f, -0x1.0dba9cp-19f, -0x1.ba7ad0p-22f};
  const Value magnitude = abs(r.a());
  const Value near = polynomial(min(magnitude, 8) * 0.25f - 1.0f, kNear) * magnitude;
  const Value bounded = max(magnitude, 8);
  const Value far = polynomial(16.0f / bounded - 1.0f, kFar) * r.graph.alu(AluOp::Rsqrt, bounded);
  const Value value = select(test(AluOp::IsLe, magnitude, 8), near, far);
  return with_sign_of(r.graph.round_to(value, r.a().dtype()), r.a());
}

// One step in the bits: up when it leads away from zero. From zero the step is the smallest subnormal with
// y's sign; equal values and a NaN in y give y.
Value next_after(const Request& r) {
  Graph& graph = r.graph;
  const Value x = r.a(), y = r.b();
  const bool is_wide_type = info(x.dtype()).bits == 32;
  const Dtype raw = is_wide_type ? Dtype::S32 : Dtype::U16;
  const Value direction = is(AluOp::IsGt, y, x) - is(AluOp::IsLt, y, x);
  const Value step = direction * sign_as_one(x);
  const Value bits = graph.bitcast(x, raw);
  const Value moved =
      is_wide_type ? add32(bits, graph.round_to(step, Dtype::S32)) : graph.round_to(bits + step, raw);
  const Value smallest = bit_or(bit_and(graph.bitcast(y, raw), is_wide_type ? 0x80000000 : 0x8000), 1);
  const Value from_zero = select(test(AluOp::IsEqual, y, 0), y, graph.bitcast(smallest, y.dtype()));
  const Value result = select(test(AluOp::IsEqual, x, 0), from_zero, graph.bitcast(moved, x.dtype()));
  return select(test(AluOp::IsEqual, y, y), result, y);
}

}  // namespace ncc::hlo_opt::math_expansion
