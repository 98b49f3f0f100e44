#include "tools/hlo-opt/passes/expand_math/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::ActivationFunction;
using isa::AluOp;
using penguin::ScalarFunction;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Range hull(std::initializer_list<double> points) {
  for (double point : points)
    if (std::isnan(point)) return {-kInfinity, kInfinity};
  return {std::min(points), std::max(points)};
}

// Room for the error of a function that is not correctly rounded; the values are not negative.
Range approximate(Range range) { return {range.low * (1 - 0x1p-20), range.high * (1 + 0x1p-20)}; }

Range multiply(Range a, Range b) {
  return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
}

Range float_alu(AluOp op, Range a, Range b) {
  switch (op) {
    case AluOp::Bypass:
      return a;
    case AluOp::Add:
      return hull({a.low + b.low, a.high + b.high});
    case AluOp::Subtract:
      return hull({a.low - b.high, a.high - b.low});
    case AluOp::Mult:
      return multiply(a, b);
    case AluOp::Divide:
      if (b.low > 0 || b.high < 0) return multiply(a, {1 / b.high, 1 / b.low});
      return {-kInfinity, kInfinity};
    case AluOp::Max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case AluOp::Min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case AluOp::Abs:
      return {a.low > 0 ? a.low : (a.high < 0 ? -a.high : 0), std::max(std::fabs(a.low), std::fabs(a.high))};
    case AluOp::Pow:
      // Monotone in the exponent for a positive base, in the base for a positive one as well; so the corners
      // bound it.
      if (a.low > 0)
        return approximate(hull({std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low),
                                 std::pow(a.high, b.high)}));
      return {-kInfinity, kInfinity};
    case AluOp::Mod:
      if (b.low > 0) return {0, b.high};
      return {-kInfinity, kInfinity};
    default:
      return {-kInfinity, kInfinity};
  }
}

Range bit_range(AluOp op, Dtype dtype, Range a, const Node& b) {
  const bool b_is_scalar = b.kind == Node::Kind::Scalar;
  switch (op) {
    case AluOp::BitwiseAnd:
      if (is_non_negative(a) && is_non_negative(b.range)) return {0, std::min(a.high, b.range.high)};
      if (is_non_negative(b.range)) return {0, b.range.high};
      if (is_non_negative(a)) return {0, a.high};
      break;
    case AluOp::LogicalShiftRight:
      if (b_is_scalar && b.scalar < 64)
        return {0,
                std::floor(std::ldexp((is_non_negative(a) ? a.high : std::ldexp(1.0, info(dtype).bits) - 1),
                                      -static_cast<int>(b.scalar)))};
      break;
    case AluOp::ArithShiftRight:
      if (b_is_scalar && b.scalar < 64 && is_signed_int(dtype))
        return {std::floor(std::ldexp(a.low, -static_cast<int>(b.scalar))),
                std::floor(std::ldexp(a.high, -static_cast<int>(b.scalar)))};
      break;
    default:
      break;
  }
  return full_range(dtype);
}

Range activation_range(ActivationFunction function, Range x) {
  switch (function) {
    case ActivationFunction::Exp:
      return approximate({std::exp(x.low), std::exp(x.high)});
    case ActivationFunction::Sigmoid:
      return {0, 1};
    case ActivationFunction::Tanh:
    case ActivationFunction::Erf:
    case ActivationFunction::Sin:
      return {-1, 1};
    default:
      return {-kInfinity, kInfinity};
  }
}

// The interval after conversion to the result type, which keeps order.
Range converted(Range range, Dtype dtype) {
  const Range full = full_range(dtype);
  if (is_float(dtype)) {
    // One more step outwards covers rounding to any float type.
    auto outwards = [&](double bound, double direction) {
      if (std::isinf(bound) || bound == 0) return bound;
      const double slack = std::fabs(bound) * 0x1p-2;
      return dtype == Dtype::F32 ? static_cast<double>(static_cast<float>(bound)) : bound + direction * slack;
    };
    return {std::max(outwards(range.low, -1), full.low), std::min(outwards(range.high, 1), full.high)};
  }
  return {std::clamp(std::nearbyint(range.low), full.low, full.high),
          std::clamp(std::nearbyint(range.high), full.low, full.high)};
}

}  // namespace

Range full_range(Dtype dtype) {
  if (dtype == Dtype::Pred) return {0, 1};
  const int bits = info(dtype).bits;
  if (is_unsigned_int(dtype)) return {0, std::ldexp(1.0, bits) - 1};
  if (is_signed_int(dtype)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {-kInfinity, kInfinity};
}

Range result_range(const Node& op, std::span<const Node* const> operands) {
  const Range a = operands[0]->range;
  switch (op.function) {
    case ScalarFunction::Alu:
      switch (isa::info(op.alu).domain) {
        case isa::AluDomain::Compare:
        case isa::AluDomain::Logical:
          return {0, 1};
        case isa::AluDomain::Bits:
          return bit_range(op.alu, op.dtype, a, *operands[1]);
        case isa::AluDomain::Float:
          return converted(float_alu(op.alu, a, operands[1]->range), op.dtype);
      }
      break;
    case ScalarFunction::Activation:
      return converted(activation_range(op.activation, a), op.dtype);
    case ScalarFunction::Copy:
      return converted(a, op.dtype);
    case ScalarFunction::Select:
      return {std::min(operands[1]->range.low, operands[2]->range.low),
              std::max(operands[1]->range.high, operands[2]->range.high)};
    case ScalarFunction::Int32: {
      // Exact when no element can wrap.
      const Range b = operands[1]->range;
      if (op.alu == AluOp::Divide) break;
      const Range exact = float_alu(op.alu, a, b);
      const Range full = full_range(op.dtype);
      if (exact.low >= full.low && exact.high <= full.high) return exact;
      break;
    }
    case ScalarFunction::Bitcast: {
      const Range full = full_range(op.dtype);
      if (is_integer(operands[0]->dtype) && is_integer(op.dtype) && a.low >= full.low && a.high <= full.high)
        return a;
      break;
    }
    default:
      break;
  }
  return full_range(op.dtype);
}

}  // namespace ncc::hlo_opt::math_expansion
