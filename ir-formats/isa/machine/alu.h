// The ALU operations on dense rows. Arithmetic is fp32, one IEEE operation per step; compares and logicals
// give 1 or 0; max and min propagate NaN and order -0 below +0 (DESIGN section 14, N2). Bit operations are on
// 32-bit words.
#pragma once
#include <bit>
#include <cstdint>

#include "ir-formats/isa/enums.h"

namespace ncc::machine {

/// N2's max and min: NaN wins, -0 is below +0.
inline float maximum(float a, float b) {
  const float larger = a > b ? a : b;
  const float equal =
      std::bit_cast<float>(std::bit_cast<uint32_t>(a) & std::bit_cast<uint32_t>(b));  // +0 of +0, -0
  const float ordered = a == b ? equal : larger;
  const float with_b = b != b ? b : ordered;
  return a != a ? a : with_b;
}
inline float minimum(float a, float b) {
  const float smaller = a < b ? a : b;
  const float equal = std::bit_cast<float>(std::bit_cast<uint32_t>(a) | std::bit_cast<uint32_t>(b));
  const float ordered = a == b ? equal : smaller;
  const float with_b = b != b ? b : ordered;
  return a != a ? a : with_b;
}

/// Ops of the Float, Compare and Logical domains that have semantics.
bool is_arithmetic(isa::AluOp op);
/// Bit operations of TensorTensorBitvec and kin, Bypass included.
bool is_bitwise(isa::AluOp op);

/// out[i] = op(a[i], b[i]). `out` may equal `a` or `b`; other overlap is not allowed.
void alu_rows(isa::AluOp op, const float* a, const float* b, float* out, int64_t n);
/// out[i] = op(a[i], s), or op(s, a[i]) when reversed.
void alu_row_scalar(isa::AluOp op, const float* a, float s, bool reverse, float* out, int64_t n);
float alu(isa::AluOp op, float a, float b);

/// Logical shifts right see zero-extended words of the element's width, arithmetic ones sign-extended words:
/// the caller loads accordingly. Shift counts are unsigned; 32 and more shift everything out.
void bits_rows(isa::AluOp op, const uint32_t* a, const uint32_t* b, uint32_t* out, int64_t n);
void bits_row_scalar(isa::AluOp op, const uint32_t* a, uint32_t s, bool reverse, uint32_t* out, int64_t n);
uint32_t bits_alu(isa::AluOp op, uint32_t a, uint32_t b);
/// Whether the op's first operand must be loaded sign-extended.
inline bool wants_sign(isa::AluOp op) { return op == isa::AluOp::ArithShiftRight; }

/// Pool's integer band: add, subtract, multiply modulo 2^32; divide truncates (x / 0 = -1, or all ones
/// unsigned); mod has the sign of the divisor (x mod 0 = x).
void int32_rows(isa::AluOp op, bool is_unsigned, const uint32_t* a, const uint32_t* b, uint32_t* out,
                int64_t n);

}  // namespace ncc::machine
