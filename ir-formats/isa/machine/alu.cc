#include "ir-formats/isa/machine/alu.h"

#include <bit>
#include <cmath>

#include "common/diag/status.h"
#include "common/math/kernels.h"
#include "common/math/math.h"

namespace ncc::machine {

using isa::AluOp;

namespace {

float as_float(bool truth) { return truth ? 1.0f : 0.0f; }
float absolute(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7FFFFFFF); }

// Calls body with the op as a function object, chosen once.
template <class Body>
void with_op(AluOp op, const Body& body) {
  switch (op) {
    case AluOp::Bypass:
      return body([](float a, float) { return a; });
    case AluOp::Add:
      return body([](float a, float b) { return a + b; });
    case AluOp::Subtract:
      return body([](float a, float b) { return a - b; });
    case AluOp::Mult:
      return body([](float a, float b) { return a * b; });
    case AluOp::Divide:
      return body([](float a, float b) { return a / b; });
    case AluOp::Max:
      return body([](float a, float b) { return maximum(a, b); });
    case AluOp::Min:
      return body([](float a, float b) { return minimum(a, b); });
    case AluOp::LogicalAnd:
      return body([](float a, float b) { return as_float((a != 0) & (b != 0)); });
    case AluOp::LogicalOr:
      return body([](float a, float b) { return as_float((a != 0) | (b != 0)); });
    case AluOp::LogicalXor:
      return body([](float a, float b) { return as_float((a != 0) != (b != 0)); });
    case AluOp::IsEqual:
      return body([](float a, float b) { return as_float(a == b); });
    case AluOp::NotEqual:
      return body([](float a, float b) { return as_float(a != b); });
    case AluOp::IsGt:
      return body([](float a, float b) { return as_float(a > b); });
    case AluOp::IsGe:
      return body([](float a, float b) { return as_float(a >= b); });
    case AluOp::IsLt:
      return body([](float a, float b) { return as_float(a < b); });
    case AluOp::IsLe:
      return body([](float a, float b) { return as_float(a <= b); });
    case AluOp::Pow:
      return body([](float a, float b) { return static_cast<float>(math::kernel::pow(a, b)); });
    case AluOp::Mod:
      return body([](float a, float b) { return math::floor_mod(a, b); });
    case AluOp::Rsqrt:
      return body([](float a, float) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); });
    case AluOp::Abs:
      return body([](float a, float) { return absolute(a); });
    case AluOp::AbsMax:
      return body([](float a, float b) { return maximum(absolute(a), absolute(b)); });
    case AluOp::AbsMin:
      return body([](float a, float b) { return minimum(absolute(a), absolute(b)); });
    default:
      NCC_CHECK(false, "ALU op {} is not arithmetic", isa::name(op));
  }
}

template <class Body>
void with_bit_op(AluOp op, const Body& body) {
  switch (op) {
    case AluOp::Bypass:
      return body([](uint32_t a, uint32_t) { return a; });
    case AluOp::BitwiseNot:
      return body([](uint32_t a, uint32_t) { return ~a; });
    case AluOp::BitwiseAnd:
      return body([](uint32_t a, uint32_t b) { return a & b; });
    case AluOp::BitwiseOr:
      return body([](uint32_t a, uint32_t b) { return a | b; });
    case AluOp::BitwiseXor:
      return body([](uint32_t a, uint32_t b) { return a ^ b; });
    case AluOp::ArithShiftLeft:
    case AluOp::LogicalShiftLeft:
      return body([](uint32_t a, uint32_t b) { return b < 32 ? a << (b & 31) : 0u; });
    case AluOp::LogicalShiftRight:
      return body([](uint32_t a, uint32_t b) { return b < 32 ? a >> (b & 31) : 0u; });
    case AluOp::ArithShiftRight:
      return body([](uint32_t a, uint32_t b) {
        const uint32_t count = b < 31 ? b : 31;
        return static_cast<uint32_t>(static_cast<int32_t>(a) >> count);
      });
    default:
      NCC_CHECK(false, "ALU op {} is not bitwise", isa::name(op));
  }
}

int32_t floor_mod(int32_t a, int32_t b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  const int32_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
int32_t divide(int32_t a, int32_t b) {
  if (b == 0) return -1;
  if (b == -1) return static_cast<int32_t>(0u - static_cast<uint32_t>(a));
  return a / b;
}

}  // namespace

bool is_arithmetic(AluOp op) {
  const isa::AluInfo& row = isa::info(op);
  return row.domain != isa::AluDomain::Bits && op != AluOp::Average && op != AluOp::ElemwiseMul;
}
bool is_bitwise(AluOp op) {
  return op == AluOp::Bypass || (isa::info(op).domain == isa::AluDomain::Bits && op != AluOp::ModInt);
}

void alu_rows(AluOp op, const float* a, const float* b, float* out, int64_t n) {
  with_op(op, [=](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  });
}

void alu_row_scalar(AluOp op, const float* a, float s, bool reverse, float* out, int64_t n) {
  with_op(op, [=](auto f) {
    if (reverse) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(s, a[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], s);
    }
  });
}

float alu(AluOp op, float a, float b) {
  float result;
  alu_rows(op, &a, &b, &result, 1);
  return result;
}

void bits_rows(AluOp op, const uint32_t* a, const uint32_t* b, uint32_t* out, int64_t n) {
  with_bit_op(op, [=](auto f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  });
}

void bits_row_scalar(AluOp op, const uint32_t* a, uint32_t s, bool reverse, uint32_t* out, int64_t n) {
  with_bit_op(op, [=](auto f) {
    if (reverse) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(s, a[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], s);
    }
  });
}

uint32_t bits_alu(AluOp op, uint32_t a, uint32_t b) {
  uint32_t result;
  bits_rows(op, &a, &b, &result, 1);
  return result;
}

void int32_rows(AluOp op, bool is_unsigned, const uint32_t* a, const uint32_t* b, uint32_t* out, int64_t n) {
  switch (op) {
    case AluOp::Add:
      for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
      return;
    case AluOp::Subtract:
      for (int64_t i = 0; i < n; ++i) out[i] = a[i] - b[i];
      return;
    case AluOp::Mult:
      for (int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
      return;
    case AluOp::Divide:
      for (int64_t i = 0; i < n; ++i)
        out[i] = is_unsigned
                     ? (b[i] == 0 ? ~0u : a[i] / b[i])
                     : static_cast<uint32_t>(divide(static_cast<int32_t>(a[i]), static_cast<int32_t>(b[i])));
      return;
    case AluOp::Mod:
    case AluOp::ModInt:
      for (int64_t i = 0; i < n; ++i)
        out[i] =
            is_unsigned
                ? (b[i] == 0 ? a[i] : a[i] % b[i])
                : static_cast<uint32_t>(floor_mod(static_cast<int32_t>(a[i]), static_cast<int32_t>(b[i])));
      return;
    default:
      NCC_CHECK(false, "ALU op {} has no int32 form", isa::name(op));
  }
}

}  // namespace ncc::machine
