// Hyperbolic functions, their inverses, and the cube root.
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/transcendental.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

Value signed_like(const Request& r, Value magnitude) {
  return with_sign_of(r.graph.round_to(magnitude, r.a().dtype()), r.a());
}

// e^|x| / 2 and its counterpart e^-|x| / 2. Up to 16 it is e^(|x| + ln 1/2) as XLA computes it, whose rounded
// exponent shows in the last digits of published results; above, that would cost many units, and e^(|x| - 1)
// e / 2 takes its place.
struct HalfExponentials {
  Value major, minor;
};

HalfExponentials half_exponentials(Value magnitude) {
  constexpr float kLogHalf = -0.69314718055994530942f, kHalfE = 1.35914091422952261768f;
  const Value is_large = is(AluOp::IsGt, magnitude, 16);
  const Value shift = is_large * (-1.0f - kLogHalf) + kLogHalf;
  const Value major = exp(magnitude + shift) * (is_large * (kHalfE - 1.0f) + 1.0f);
  return {major, 0.25f / major};
}

// Beyond 2^60 the inverse functions are ln 2x: x / 4 gives the same less 2 ln 2, and nothing overflows.
struct Scaled {
  Value x, offset;
};

Scaled scale_large(Value x) {
  const Value is_large = is(AluOp::IsGt, x, 0x1p60f);
  return {x * (is_large * -0.75f + 1.0f), is_large * 1.38629436111989061883f};
}

}  // namespace

Value cosh_float(const Request& r) {
  const HalfExponentials half = half_exponentials(abs(r.a()));
  return half.major + half.minor;
}

// Below 1, where the difference would cancel, as tanh x cosh x.
Value sinh_float(const Request& r) {
  const Value magnitude = abs(r.a());
  const HalfExponentials half = half_exponentials(magnitude);
  const Value small = tanh(r.a()) * (half.major + half.minor);
  const Value large = (half.major - half.minor) * activate(isa::ActivationFunction::Sign, r.a());
  return select(test(AluOp::IsLt, magnitude, 1), small, large);
}

// ln(1 + a + a^2 / (1 + sqrt(1 + a^2))), with the quotient as a / (1/a + sqrt(1 + 1/a^2)).
Value arsinh(const Request& r) {
  const Scaled scaled = scale_large(abs(r.a()));
  const Value inverse = 1.0f / scaled.x;
  const Value part = 1.0f / (sqrt(inverse * inverse + 1.0f) + inverse);
  return signed_like(r, log1p(scaled.x * part + scaled.x) + scaled.offset);
}

// ln(1 + t + sqrt(t) sqrt(t + 2)), t = x - 1; below 1 the root is NaN.
Value arcosh(const Request& r) {
  const Scaled scaled = scale_large(r.a());
  const Value t = scaled.x - 1.0f;
  return log1p(sqrt(t) * sqrt(t + 2.0f) + t) + scaled.offset;
}

// ln(1 + 2a / (1 - a)) / 2
Value artanh(const Request& r) {
  const Value magnitude = abs(r.a());
  return signed_like(r, log1p((magnitude * 2.0f) / (1.0f - magnitude)) * 0.5f);
}

// |x|^c with c = 1/3 rounded to fp32, times |x|^(1/3 - c); the bounds keep the second power finite.
Value cube_root(const Request& r) {
  constexpr float kThird = 1.0f / 3.0f;
  constexpr float kRest = static_cast<float>(1.0 / 3.0 - static_cast<double>(kThird));
  const Value magnitude = abs(r.a());
  const Value correction = pow(min(max(magnitude, 0x1p-149f), 0x1.fffffep127f), kRest);
  return signed_like(r, pow(magnitude, kThird) * correction);
}

}  // namespace ncc::hlo_opt::math_expansion
