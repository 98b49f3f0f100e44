// Exponentials, logarithms and roots of floats. An activation function is used where its range allows; the
// ALU's pow takes the place of argument scaling, since it is accurate everywhere. No argument leaves an
// activation's published range (DESIGN N4).
#include <limits>

#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/transcendental.h"

namespace ncc::hlo_opt::math_expansion {

using isa::ActivationFunction;
using isa::AluOp;

namespace {
constexpr float kLowest = std::numeric_limits<float>::lowest();
}

Value exponential(const Request& r) { return exp(r.a()); }
Value logistic(const Request& r) { return activate(ActivationFunction::Sigmoid, r.a()); }
Value tanh_float(const Request& r) { return tanh(r.a()); }
Value erf_float(const Request& r) { return activate(ActivationFunction::Erf, r.a()); }
Value rsqrt_float(const Request& r) { return r.graph.alu(AluOp::Rsqrt, r.a()); }
Value log_float(const Request& r) { return log(r.a()); }

// pow differs from sqrt at two points: (-inf)^0.5 = +inf and (-0)^0.5 = +0.
Value sqrt_float(const Request& r) {
  const Value x = r.a();
  const Value root = sqrt(x.range().low >= 0 ? x : max(x, kLowest));
  if (x.range().low > 0) return root;
  return with_sign_of(r.graph.round_to(root, x.dtype()), x);
}

Value exponential_minus_one(const Request& r) { return expm1(r.a()); }
Value log_plus_one(const Request& r) { return log1p(r.a()); }

Value exp(Value x) { return activate(ActivationFunction::Exp, x); }
Value tanh(Value x) { return activate(ActivationFunction::Tanh, x); }
Value sqrt(Value x) { return pow(x, 0.5f); }

// ln x = ln(x^s) / s with s = 1 inside Ln's range [2^-64, 2^64], s = -1/4 below it and 1/4 above. The powers
// also give the special values: 0^(-1/4) = +inf for either zero, (negative)^(-1/4) = NaN once -inf is made
// finite. The exponent is exact, and outside the range |ln x| > 44, so the power's rounding error is lost in
// the result's.
Value log(Value x) {
  const Range range = x.range();
  const bool may_be_small = !(range.low >= 0x1p-64);
  const bool may_be_large = !(range.high <= 0x1p64) && x.dtype() != Dtype::F16;
  if (!may_be_small && !may_be_large) return activate(ActivationFunction::Ln, x);
  Value exponent = x.graph->f32(1);
  if (may_be_small) exponent = is(AluOp::IsLt, x, 0x1p-64f) * -1.25f + exponent;
  if (may_be_large) exponent = is(AluOp::IsGt, x, 0x1p64f) * -0.75f + exponent;
  const Value finite_below = range.low >= 0 ? x : max(x, kLowest);
  return activate(ActivationFunction::Ln, pow(finite_below, exponent)) / exponent;
}

// e^x - 1 = 2t / (1 + |t|) * e^max(x, 0), t = tanh(x / 2): no step cancels. For x < 0 it is the identity of
// tanh, for x > 0 the same applied to e^x - 1 = -e^x (e^-x - 1).
Value expm1(Value x) {
  const Value t = tanh(x * 0.5f);
  return (t * 2.0f) / (abs(t) + 1.0f) * exp(max(x, 0));
}

// u = 1 + x loses c = x - (u - 1), and ln(1 + x) = ln u + c / u to first order. Beyond 2^30 the correction is
// bounded away so that it stays finite; u = 0 divides by 1 instead.
Value log1p(Value x) {
  const Value bounded = min(x, 0x1p30f);
  const Value u = bounded + 1.0f;
  const Value lost = bounded - (u - 1.0f);
  return log(x + 1.0f) + lost / max(u, 0x1p-30f);
}

}  // namespace ncc::hlo_opt::math_expansion
