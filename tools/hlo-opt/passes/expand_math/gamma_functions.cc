// The log-gamma function, its derivatives, and Hurwitz' zeta function. The polynomials are Chebyshev
// interpolants rounded to fp32; the asymptotic series are Stirling's and Euler-Maclaurin's with Bernoulli
// numbers.
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/transcendental.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

constexpr float kPi = 3.14159265358979323846f;

// The distance from a >= 0 to the nearest integer, in [0, 1/2], with the parity forgotten: |sin(pi a)| =
// sin(pi d).
Value distance_to_integer(Value a) {
  const Value fraction = mod(min(a, 0x1p24f), 1);
  return min(fraction, 1.0f - fraction);
}

Value sine_of_small_angle(Value x) { return activate(isa::ActivationFunction::Sin, x); }

// ln gamma(x), x >= 0:
//   below 4     (t P(t) with t = x - 2 or, below 1.5, t = x - 1 less ln x): both zeros, at 1 and 2, keep
//   their relative accuracy from 4 on   (x - 1/2)(ln x - 1) + (ln 2 pi - 1) / 2 + S(1/x)
Value log_gamma_positive(Value x) {
  static constexpr float kP[] = {0x1.b0ee66p-2f,   0x1.4a34ccp-2f,  -0x1.13e010p-4f,  0x1.513360p-6f,
                                 -0x1.e3fe8ep-8f,  0x1.7a9ab2p-9f,  -0x1.38cb46p-10f, 0x1.0e38cep-11f,
                                 -0x1.d89b12p-13f, 0x1.835992p-14f, -0x1.444028p-15f, 0x1.7deaf2p-16f,
                                 -0x1.e6d622p-17f, 0x1.a57a50p-18f, -0x1.9034e0p-20f, 0x1.3bc6bep-23f};
  static constexpr float kS[] = {1.0f / 12, -1.0f / 360, 1.0f / 1260, -1.0f / 1680, 1.0f / 1188};
  const Value logarithm = log(x);
  const Value is_low = is(AluOp::IsLt, x, 1.5f);
  const Value bounded = min(x, 4);
  const Value t = bounded - (2.0f - is_low);
  // Where x is not low the logarithm must not enter, not even as infinity times zero.
  const Value low_logarithm = select(test(AluOp::IsLt, x, 1.5f), logarithm, 0);
  const Value central = polynomial(t, kP) * t - low_logarithm;
  const Value inverse = 1.0f / max(x, 4);
  const Value series = polynomial(inverse * inverse, kS) * inverse;
  const Value large = ((x - 0.5f) * (logarithm - 1.0f) + 0.41893853320467274178f) + series;
  return select(test(AluOp::IsLt, x, 4), central, large);
}

// psi(x), x >= 0: (x - x0) P(x) on [1, 4] around its zero x0, with psi(x) = psi(x + 1) - 1/x below 1 and the
// asymptotic series above 4.
Value digamma_positive(Value x) {
  static constexpr float kP[] = {0x1.5ab6aap-1f,   -0x1.7076dcp-3f,  0x1.e7a93cp-5f,  -0x1.5e74ecp-6f,
                                 0x1.063c30p-7f,   -0x1.92122cp-9f,  0x1.3efa74p-10f, -0x1.f4de02p-12f,
                                 0x1.3398cap-13f,  -0x1.e68fa2p-15f, 0x1.0758bep-14f, -0x1.a46daap-16f,
                                 -0x1.6d1cfep-17f, 0x1.244164p-18f,  0x1.0a7816p-18f, -0x1.aa283cp-20f};
  static constexpr float kS[] = {1.0f / 12, -1.0f / 120, 1.0f / 252, -1.0f / 240, 1.0f / 132};
  constexpr double kZero = 1.46163214496836234126;
  constexpr float kZeroHigh = static_cast<float>(kZero);
  constexpr float kZeroLow = static_cast<float>(kZero - static_cast<double>(kZeroHigh));
  const Value is_low = is(AluOp::IsLt, x, 1);
  const Value shifted = min(x, 4) + is_low;
  const Value inverse = 1.0f / x;
  const Value central = polynomial(shifted - 2.5f, kP) * ((shifted - kZeroHigh) - kZeroLow) -
                        select(test(AluOp::IsLt, x, 1), inverse, 0);
  const Value bounded_inverse = min(inverse, 0.25f);
  const Value square = bounded_inverse * bounded_inverse;
  const Value large = (log(max(x, 4)) - bounded_inverse * 0.5f) - polynomial(square, kS) * square;
  return select(test(AluOp::IsLt, x, 4), central, large);
}

// psi(x) = psi(1 - x) - pi / tan(pi x) below 0; NaN at the poles.
Value digamma(Value x) {
  const Value magnitude = abs(x);
  const Value is_negative = test(AluOp::IsLt, x, 0);
  const Value value = digamma_positive(select(is_negative, magnitude + 1.0f, magnitude));
  // tan(pi a) from the distance d of a to the next integer and the side on which that lies.
  const Value fraction = mod(min(magnitude, 0x1p24f), 1);
  const Value distance = distance_to_integer(magnitude);
  const Value side = is(AluOp::IsGt, fraction, 0.5f) * -2.0f + 1.0f;
  const Value cotangent =
      (sine_of_small_angle((0.5f - distance) * kPi) / sine_of_small_angle(distance * kPi)) * side;
  const Value result = select(is_negative, cotangent * kPi + value, value);
  const Value is_pole = test(AluOp::IsEqual, select(test(AluOp::IsLe, x, 0), distance, 1.0f), 0);
  return select(is_pole, NAN, result);
}

// ln gamma(-a) = ln(pi / |sin pi a|) - ln gamma(1 + a): +inf at the poles and at -inf.
Value log_gamma(Value x) {
  const Value magnitude = abs(x);
  const Value is_negative = test(AluOp::IsLt, x, 0);
  const Value value = log_gamma_positive(select(is_negative, magnitude + 1.0f, magnitude));
  const Value sine = sine_of_small_angle(distance_to_integer(magnitude) * kPi);
  const Value reflected = log(kPi / sine) - value;
  const Value is_pole = test(AluOp::IsEqual, distance_to_integer(magnitude), 0);
  const Value below_zero = select(is_pole, INFINITY, reflected);
  return select(is_negative, below_zero, value);
}

// n! for a natural number, infinite from 35 on.
Value factorial(Value n) {
  Value product = is(AluOp::IsGe, n, 2) + 1.0f;
  for (int k = 3; k <= 35; ++k)
    product = (is(AluOp::IsGe, n, static_cast<float>(k)) * static_cast<float>(k - 1) + 1.0f) * product;
  return product;
}

// sum of (q + k)^-s over k >= 0: nine terms, then Euler and Maclaurin's tail from a = q + 9 with 12 Bernoulli
// terms.
Value hurwitz_zeta(Value s, Value q) {
  static constexpr float kDivisors[] = {12.0f,
                                        -720.0f,
                                        30240.0f,
                                        -1209600.0f,
                                        47900160.0f,
                                        -1.8924375803183791606e9f,
                                        7.47242496e10f,
                                        -2.950130727918164224e12f,
                                        1.1646782814350067249e14f,
                                        -4.5979787224074726105e15f,
                                        1.8152105401943546773e17f,
                                        -7.1661652561756670113e18f};
  constexpr int kTerms = 9;
  Graph& graph = *s.graph;
  const Value negative = -s;
  Value sum = pow(q, negative);
  for (int k = 1; k < kTerms; ++k) sum = sum + pow(q + static_cast<float>(k), negative);
  const Value a = q + static_cast<float>(kTerms);
  const Value power = pow(a, negative);
  Value with_tail = (sum + (power * a) / (s - 1.0f)) + power * 0.5f;
  Value factor = s, scaled = power / a;
  const Value inverse_square = 1.0f / (a * a);
  for (int k = 0; k < 12; ++k) {
    with_tail = (factor * scaled) * (1.0f / kDivisors[k]) + with_tail;
    if (k == 11) break;
    factor = (factor * (s + static_cast<float>(2 * k + 1))) * (s + static_cast<float>(2 * k + 2));
    scaled = scaled * inverse_square;
  }
  // A last term that no longer counts: the tail may even have overflowed.
  const Value is_converged = test(AluOp::IsLt, abs(power), abs(sum) * 0x1p-25f);
  Value result = select(is_converged, sum, with_tail);
  const Value is_not_positive = test(AluOp::IsLe, q, 0);
  const Value q_is_integer = test(AluOp::IsEqual, mod(q, 1), 0),
              s_is_integer = test(AluOp::IsEqual, mod(s, 1), 0);
  const Value at_pole = graph.alu(AluOp::LogicalAnd, is_not_positive, q_is_integer, Dtype::Pred);
  const Value undefined_power =
      graph.alu(AluOp::LogicalAnd, is_not_positive,
                graph.alu(AluOp::IsEqual, s_is_integer, graph.f32(0), Dtype::Pred), Dtype::Pred);
  result = select(at_pole, INFINITY, result);
  result = select(undefined_power, NAN, result);
  result = select(test(AluOp::IsLt, s, 1), NAN, result);
  return select(test(AluOp::IsEqual, s, 1), INFINITY, result);
}

}  // namespace

Value lgamma_float(const Request& r) { return log_gamma(r.graph.copy(r.a(), Dtype::F32)); }
Value digamma_float(const Request& r) { return digamma(r.graph.copy(r.a(), Dtype::F32)); }

Value zeta_float(const Request& r) {
  return hurwitz_zeta(r.graph.copy(r.a(), Dtype::F32), r.graph.copy(r.b(), Dtype::F32));
}

// (-1)^(n+1) n! zeta(n + 1, x); n = 0 is digamma; NaN unless n is a natural number.
Value polygamma_float(const Request& r) {
  const Value n = r.graph.copy(r.a(), Dtype::F32), x = r.graph.copy(r.b(), Dtype::F32);
  const Value order = n + 1.0f;
  const Value sign = mod(n, 2) * 2.0f - 1.0f;
  const Value derivative = (factorial(n) * sign) * hurwitz_zeta(order, x);
  const Value value = select(test(AluOp::IsEqual, n, 0), digamma(x), derivative);
  const Value is_natural = test(AluOp::IsEqual, mod(n, 1) + is(AluOp::IsLt, n, 0), 0);
  return select(is_natural, value, NAN);
}

}  // namespace ncc::hlo_opt::math_expansion
