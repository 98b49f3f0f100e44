// Exact integer arithmetic out of machine operations. "Wide" types have 32 bits, narrow ones 8 or 16; values
// of narrow types are exact in fp32. Source: DESIGN C5, spec/stablehlo-text.md §3.1.
#pragma once
#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

inline bool is_wide(Dtype dtype) { return info(dtype).bits == 32; }
/// The type of the same width with the other or the same signedness.
Dtype signed_type(Dtype dtype);
Dtype unsigned_type(Dtype dtype);

// Modulo 2^32, on values of one 32-bit type.
Value add32(Value a, Value b);
Value subtract32(Value a, Value b);
Value multiply32(Value a, Value b);
Value negate32(Value a);

// Bit operations with a constant, on the type of `a`.
Value bit_and(Value a, int64_t mask);
Value bit_or(Value a, int64_t mask);
Value shift_left(Value a, int amount);
Value shift_right_logical(Value a, int amount);
Value shift_right_arithmetic(Value a, int amount);

/// A narrow or 32-bit value as a 32-bit one with the same number (sign- or zero-extended), in the 32-bit type
/// of its own signedness.
Value to_wide(Value a);
/// An exact integer (32-bit, or fp32 below 2^24 in magnitude) modulo 2^bits of `type`.
Value wrap(Value a, Dtype type);
/// +1 or -1 (for negative values) of a signed 32-bit value.
Value sign_factor(Value a);

/// a `comparison` b for integers of one type, as a Pred.
Value compare_integers(isa::AluOp comparison, Value a, Value b);

}  // namespace ncc::hlo_opt::math_expansion
