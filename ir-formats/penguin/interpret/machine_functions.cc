#include "ir-formats/penguin/interpret/machine_functions.h"

#include <cmath>
#include <limits>

#include "common/diag/status.h"
#include "common/math/math.h"
#include "ir-formats/penguin/interpret/functions.h"

namespace ncc::penguin {
namespace {

using isa::ActivationFunction;
using isa::AluOp;
using F = ScalarFunction;

float max_f(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
float min_f(float a, float b) { return -max_f(-a, -b); }

float alu(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::Bypass:
      return a;
    case AluOp::Add:
      return a + b;
    case AluOp::Subtract:
      return a - b;
    case AluOp::Mult:
    case AluOp::ElemwiseMul:
      return a * b;
    case AluOp::Divide:
      return a / b;
    case AluOp::Max:
      return max_f(a, b);
    case AluOp::Min:
      return min_f(a, b);
    case AluOp::LogicalAnd:
      return a != 0 && b != 0;
    case AluOp::LogicalOr:
      return a != 0 || b != 0;
    case AluOp::LogicalXor:
      return (a != 0) != (b != 0);
    case AluOp::IsEqual:
      return a == b;
    case AluOp::NotEqual:
      return a != b;
    case AluOp::IsGt:
      return a > b;
    case AluOp::IsGe:
      return a >= b;
    case AluOp::IsLt:
      return a < b;
    case AluOp::IsLe:
      return a <= b;
    case AluOp::Average:
      return (a + b) * 0.5f;
    case AluOp::Pow:
      return math::pow(a, b);
    case AluOp::Mod:
      return math::floor_mod(a, b);
    case AluOp::Rsqrt:
      return math::rsqrt(a);
    case AluOp::Abs:
      return std::fabs(a);
    case AluOp::AbsMax:
      return max_f(std::fabs(a), std::fabs(b));
    case AluOp::AbsMin:
      return min_f(std::fabs(a), std::fabs(b));
    default:
      NCC_CHECK(false, "ALU operation '{}' has no fp32 semantics", isa::name(op));
  }
}

/// The Model function of the same meaning on integers, for the operations on raw bits and the exact int32
/// band.
F integer_function(AluOp op) {
  switch (op) {
    case AluOp::BitwiseNot:
      return F::Not;
    case AluOp::BitwiseAnd:
      return F::And;
    case AluOp::BitwiseOr:
      return F::Or;
    case AluOp::BitwiseXor:
      return F::Xor;
    case AluOp::ArithShiftLeft:
    case AluOp::LogicalShiftLeft:
      return F::ShiftLeft;
    case AluOp::ArithShiftRight:
      return F::ShiftRightArithmetic;
    case AluOp::LogicalShiftRight:
      return F::ShiftRightLogical;
    case AluOp::Add:
      return F::Add;
    case AluOp::Subtract:
      return F::Subtract;
    case AluOp::Mult:
      return F::Multiply;
    case AluOp::Divide:
      return F::Divide;
    default:
      NCC_CHECK(false, "ALU operation '{}' has no integer semantics", isa::name(op));
  }
}

/// Floor-mod: the sign of the divisor; x mod 0 = x.
int64_t floor_mod(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return a;
  const int64_t rest = b == -1 ? 0 : a % b;
  return !is_unsigned && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double gelu_tanh(double x) {
  return 0.5 * x * (1.0 + math::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

double activation(ActivationFunction function, double x) {
  using A = ActivationFunction;
  constexpr double kHalfSqrt2 = 0.7071067811865476, kInverseSqrt2Pi = 0.3989422804014327;
  switch (function) {
    case A::Identity:
    case A::Copy:
      return x;
    case A::Square:
      return x * x;
    case A::Relu:
      return max_f(static_cast<float>(x), 0.0f);
    case A::Sigmoid:
      return math::sigmoid(x);
    case A::Tanh:
      return math::tanh(x);
    case A::Exp:
      return math::exp(x);
    case A::Softplus:
      return math::softplus(x);
    case A::Sqrt:
      return std::sqrt(x);
    case A::Rsqrt:
      return math::rsqrt(x);
    case A::Ln:
      return math::log(x);
    case A::Erf:
      return math::erf(x);
    case A::Sin:
      return math::sin(x);
    case A::Arctan:
      return math::atan(x);
    case A::Sign:
      return std::isnan(x) || x == 0 ? x : x > 0 ? 1.0 : -1.0;
    case A::Gelu:
      return 0.5 * x * math::erfc(-x * kHalfSqrt2);
    case A::Mish:
      return x * math::tanh(math::softplus(x));
    case A::GeluApprxTanh:
      return gelu_tanh(x);
    case A::GeluApprxSigmoid:
      return x * math::sigmoid(1.702 * x);
    case A::DerivativeGeluApprxSigmoid: {
      const double s = math::sigmoid(1.702 * x);
      return s + 1.702 * x * s * (1.0 - s);
    }
    case A::DerivativeGelu:
      return 0.5 * math::erfc(-x * kHalfSqrt2) + x * kInverseSqrt2Pi * math::exp(-0.5 * x * x);
    case A::DerivativeErf:
      return 1.1283791670955126 * math::exp(-x * x);
    case A::Abs:
      return std::fabs(x);
    case A::Reciprocal:
      return 1.0 / x;
    case A::AbsReciprocalSqrt:
      return math::rsqrt(std::fabs(x));
    case A::Silu:
      return x * math::sigmoid(x);
    case A::DerivativeSilu: {
      const double s = math::sigmoid(x);
      return s * (1.0 + x * (1.0 - s));
    }
    case A::IsFinite:
      return std::isfinite(x);
    default:
      NCC_CHECK(false, "activation '{}' needs a parameter that the tensor level does not carry",
                isa::name(function));
  }
}

/// Outside the published range a finite argument gives NaN.
double activation_in_range(ActivationFunction function, double x) {
  const isa::ActivationInfo& row = isa::info(function);
  const double tested = function == ActivationFunction::Reciprocal ? std::fabs(x) : x;
  // The roots and the logarithm take zero, and give NaN below it by themselves.
  if (row.low != row.high && std::isfinite(x) && x != 0 && (tested < row.low || tested > row.high))
    return std::numeric_limits<double>::quiet_NaN();
  return activation(function, x);
}

}  // namespace

void copy_machine(std::span<const Lanes> in, Lanes& out, int64_t count) {
  const int bits = info(out.dtype).bits;
  const bool is_signed = is_signed_int(out.dtype);
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1.0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = in[0].as_real(i);
    const double rounded = std::isnan(value) ? (std::signbit(value) ? low : high) : std::nearbyint(value);
    if (out.dtype == Dtype::Pred)
      out.integer[static_cast<size_t>(i)] = value != 0;
    else
      out.integer[static_cast<size_t>(i)] = static_cast<int64_t>(rounded < low    ? low
                                                                 : rounded > high ? high
                                                                                  : rounded);
  }
}

void evaluate_machine(ScalarFunction function, const TensorAttributes& attributes, std::span<const Lanes> in,
                      Lanes& out, int64_t count) {
  const bool is_unsigned = is_unsigned_int(out.dtype);
  if (function == F::Int32 && (attributes.alu == AluOp::Mod || attributes.alu == AluOp::ModInt)) {
    for (int64_t i = 0; i < count; ++i)
      out.integer[static_cast<size_t>(i)] = floor_mod(in[0].integer[static_cast<size_t>(i)],
                                                      in[1].integer[static_cast<size_t>(i)], is_unsigned);
    return;
  }
  if (function == F::Int32 ||
      (function == F::Alu && isa::info(attributes.alu).domain == isa::AluDomain::Bits))
    return evaluate(integer_function(attributes.alu), attributes, in, out, count);
  Lanes values(Dtype::F32, count);
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(i);
    if (function == F::Activation)
      values.real[at] = static_cast<float>(activation_in_range(attributes.activation, in[0].as_real(i)));
    else
      values.real[at] =
          alu(attributes.alu, static_cast<float>(in[0].as_real(i)), static_cast<float>(in[1].as_real(i)));
  }
  if (!out.is_real()) return copy_machine(std::span<const Lanes>(&values, 1), out, count);
  out.real = std::move(values.real);
}

}  // namespace ncc::penguin
