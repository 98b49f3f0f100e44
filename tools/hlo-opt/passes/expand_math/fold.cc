#include "tools/hlo-opt/passes/expand_math/fold.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/math/math.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;
using penguin::ScalarFunction;

uint64_t width_mask(Dtype dtype) {
  const int bits = info(dtype).bits;
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

int64_t sign_extend(uint64_t value, int bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

float smaller(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<float>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

std::optional<float> fold_float(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::Bypass:
      return a;
    case AluOp::Add:
      return a + b;
    case AluOp::Subtract:
      return a - b;
    case AluOp::Mult:
      return a * b;
    case AluOp::Divide:
      return a / b;
    case AluOp::Max:
      return larger(a, b);
    case AluOp::Min:
      return smaller(a, b);
    case AluOp::Pow:
      return math::pow(a, b);
    case AluOp::Mod:
      return math::floor_mod(a, b);
    case AluOp::Rsqrt:
      return math::rsqrt(a);
    case AluOp::Abs:
      return std::fabs(a);
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
    case AluOp::LogicalAnd:
      return a != 0 && b != 0;
    case AluOp::LogicalOr:
      return a != 0 || b != 0;
    case AluOp::LogicalXor:
      return (a != 0) != (b != 0);
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> fold_bits(AluOp op, Dtype dtype, uint64_t a, uint64_t b) {
  const int width = info(dtype).bits;
  switch (op) {
    case AluOp::BitwiseNot:
      return ~a & width_mask(dtype);
    case AluOp::BitwiseAnd:
      return a & b;
    case AluOp::BitwiseOr:
      return a | b;
    case AluOp::BitwiseXor:
      return a ^ b;
    case AluOp::LogicalShiftLeft:
    case AluOp::ArithShiftLeft:
      return b >= static_cast<uint64_t>(width) ? 0 : (a << b) & width_mask(dtype);
    case AluOp::LogicalShiftRight:
      return b >= static_cast<uint64_t>(width) ? 0 : a >> b;
    case AluOp::ArithShiftRight: {
      const uint64_t amount = std::min<uint64_t>(b, static_cast<uint64_t>(width - 1));
      return static_cast<uint64_t>(sign_extend(a, width) >> amount) & width_mask(dtype);
    }
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> fold_int32(AluOp op, uint64_t a, uint64_t b) {
  const uint32_t x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
  switch (op) {
    case AluOp::Add:
      return static_cast<uint32_t>(x + y);
    case AluOp::Mult:
      return static_cast<uint32_t>(x * y);
    case AluOp::Subtract:
      return static_cast<uint32_t>(x - y);
    default:
      return std::nullopt;
  }
}

}  // namespace

float widen(Dtype dtype, uint64_t bits) {
  if (dtype == Dtype::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (dtype == Dtype::Pred) return static_cast<float>(bits & 0xFF);
  if (is_unsigned_int(dtype)) return static_cast<float>(bits & width_mask(dtype));
  if (is_signed_int(dtype)) return static_cast<float>(sign_extend(bits, info(dtype).bits));
  return static_cast<float>(load_as_double(dtype, &bits));
}

uint64_t narrow(Dtype dtype, float value) {
  if (dtype == Dtype::F32) return std::bit_cast<uint32_t>(value);
  uint64_t bits = 0;
  if (is_integer(dtype) || dtype == Dtype::Pred) {
    const int width = info(dtype).bits;
    const bool is_signed = is_signed_int(dtype);
    const double high = std::ldexp(1.0, is_signed ? width - 1 : width) - 1;
    const double low = is_signed ? -high - 1 : 0;
    double rounded = std::isnan(value) ? (std::signbit(value) ? low : high) : std::nearbyint(double{value});
    rounded = std::min(std::max(rounded, low), high);
    return static_cast<uint64_t>(static_cast<int64_t>(rounded)) & width_mask(dtype);
  }
  store_from_double(dtype, &bits, value);
  return bits;
}

std::optional<uint64_t> fold(const Node& op, std::span<const Node* const> operands) {
  const Node& a = *operands[0];
  const Node& b = *operands[operands.size() > 1 ? 1 : 0];
  switch (op.function) {
    case ScalarFunction::Alu: {
      if (isa::info(op.alu).domain == isa::AluDomain::Bits)
        return fold_bits(op.alu, op.dtype, a.scalar, b.scalar);
      const std::optional<float> value =
          fold_float(op.alu, widen(a.dtype, a.scalar), widen(b.dtype, b.scalar));
      if (!value) return std::nullopt;
      return narrow(op.dtype, *value);
    }
    case ScalarFunction::Int32:
      return fold_int32(op.alu, a.scalar, b.scalar);
    case ScalarFunction::Copy:
      return a.dtype == op.dtype ? a.scalar : narrow(op.dtype, widen(a.dtype, a.scalar));
    case ScalarFunction::Bitcast:
      return a.scalar;
    case ScalarFunction::Select:
      return operands[0]->scalar != 0 ? operands[1]->scalar : operands[2]->scalar;
    default:
      return std::nullopt;
  }
}

}  // namespace ncc::hlo_opt::math_expansion
