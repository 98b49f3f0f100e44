#include "tools/hlo-opt/passes/expand_math/integer.h"

#include <cmath>
#include <optional>

#include "common/diag/status.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt::math_expansion {

using isa::AluOp;

namespace {

constexpr double kExact = 0x1p24;

bool stays_exact(Range range) { return range.low >= -kExact && range.high <= kExact; }

Value with_constant(AluOp op, Value a, int64_t constant) {
  return a.graph->bits(op, a, a.graph->integer(a.dtype(), constant));
}

// The fp32 result of `op` when neither its operands nor its result can lose a bit there; else nothing. Saves
// the trip to the one engine that has 32-bit arithmetic.
std::optional<Value> in_f32(AluOp op, Value a, Value b) {
  if (!is_exact_in_f32(a.range()) || !is_exact_in_f32(b.range())) return std::nullopt;
  const Value result = a.graph->alu(op, a, b);
  if (!stays_exact(result.range())) return std::nullopt;
  return result;
}

using WideOperation = Value (*)(Value, Value);

Value arithmetic(const Request& r, AluOp op, WideOperation wide) {
  if (const std::optional<Value> exact = in_f32(op, r.a(), r.b())) return wrap(*exact, r.result);
  return wrap(wide(to_wide(r.a()), to_wide(r.b())), r.result);
}

Value extreme(const Request& r, AluOp op, AluOp comparison) {
  if (is_exact_in_f32(r.a().range()) && is_exact_in_f32(r.b().range()))
    return r.graph.alu(op, r.a(), r.b(), r.result);
  return select(compare_integers(comparison, r.a(), r.b()), r.a(), r.b());
}

}  // namespace

Dtype signed_type(Dtype dtype) {
  switch (info(dtype).bits) {
    case 8:
      return Dtype::S8;
    case 16:
      return Dtype::S16;
    default:
      return Dtype::S32;
  }
}

Dtype unsigned_type(Dtype dtype) {
  switch (info(dtype).bits) {
    case 8:
      return Dtype::U8;
    case 16:
      return Dtype::U16;
    default:
      return Dtype::U32;
  }
}

Value add32(Value a, Value b) { return a.graph->int32(AluOp::Add, a, b); }
Value multiply32(Value a, Value b) { return a.graph->int32(AluOp::Mult, a, b); }
Value negate32(Value a) { return multiply32(a, a.graph->integer(a.dtype(), -1)); }

Value subtract32(Value a, Value b) {
  if (a.graph->arch().pool_int32_sub_div_mod) return a.graph->int32(AluOp::Subtract, a, b);
  return add32(a, negate32(b));
}

Value bit_and(Value a, int64_t mask) { return with_constant(AluOp::BitwiseAnd, a, mask); }
Value bit_or(Value a, int64_t mask) { return with_constant(AluOp::BitwiseOr, a, mask); }
Value shift_left(Value a, int amount) { return with_constant(AluOp::LogicalShiftLeft, a, amount); }
Value shift_right_logical(Value a, int amount) { return with_constant(AluOp::LogicalShiftRight, a, amount); }
Value shift_right_arithmetic(Value a, int amount) { return with_constant(AluOp::ArithShiftRight, a, amount); }

Value to_wide(Value a) { return a.graph->copy(a, is_signed_int(a.dtype()) ? Dtype::S32 : Dtype::U32); }

Value wrap(Value a, Dtype type) {
  Graph& graph = *a.graph;
  const Range full = full_range(type);
  if (is_wide(type) && a.dtype() != Dtype::F32) return graph.bitcast(a, type);
  if (a.range().low >= full.low && a.range().high <= full.high && stays_exact(a.range()))
    return graph.round_to(a, type);
  if (is_wide(type)) return graph.bitcast(graph.round_to(a, Dtype::S32), type);
  const int bits = info(type).bits;
  if (is_unsigned_int(type)) {
    if (a.dtype() == Dtype::F32) return graph.round_to(mod(a, std::ldexp(1.0f, bits)), type);
    return graph.copy(bit_and(a, (int64_t{1} << bits) - 1), type);
  }
  const Value whole = a.dtype() == Dtype::F32 ? graph.round_to(a, Dtype::S32) : graph.bitcast(a, Dtype::S32);
  return graph.copy(shift_right_arithmetic(shift_left(whole, 32 - bits), 32 - bits), type);
}

Value sign_factor(Value a) { return bit_or(shift_right_arithmetic(a, 31), 1); }

// Both are cut into a high part of 24 bits and a low part of 8. The parts' differences are exact in fp32;
// their weighted sum may round, but not to the other side of zero, because a difference in the high parts
// outweighs any in the low ones.
Value compare_integers(AluOp comparison, Value a, Value b) {
  Graph& graph = *a.graph;
  if (is_exact_in_f32(a.range()) || is_exact_in_f32(b.range())) return test(comparison, a, b);
  if (comparison == AluOp::IsEqual || comparison == AluOp::NotEqual)
    return test(comparison, graph.bits(AluOp::BitwiseXor, a, b), 0);
  auto high = [](Value v) {
    return is_signed_int(v.dtype()) ? shift_right_arithmetic(v, 8) : shift_right_logical(v, 8);
  };
  const Value high_difference = high(a) - high(b);
  const Value low_difference = bit_and(a, 255) - bit_and(b, 255);
  return test(comparison, high_difference * 256.0f + low_difference, 0);
}

Value add_integer(const Request& r) { return arithmetic(r, AluOp::Add, add32); }
Value subtract_integer(const Request& r) { return arithmetic(r, AluOp::Subtract, subtract32); }
Value multiply_integer(const Request& r) { return arithmetic(r, AluOp::Mult, multiply32); }

Value negate_integer(const Request& r) {
  if (is_exact_in_f32(r.a().range())) return wrap(-r.a(), r.result);
  return negate32(r.a());
}

// The magnitude of the smallest narrow value fits the unsigned type, and its bits are those of the smallest
// value again.
Value abs_integer(const Request& r) {
  if (is_unsigned_int(r.result)) return r.a();
  if (is_exact_in_f32(r.a().range()))
    return r.graph.bitcast(r.graph.alu(AluOp::Abs, r.a(), unsigned_type(r.result)), r.result);
  return multiply32(r.a(), sign_factor(r.a()));
}

Value sign_integer(const Request& r) {
  return r.graph.alu(AluOp::Min, max(r.a(), -1), r.graph.f32(1), r.result);
}

Value maximum_integer(const Request& r) { return extreme(r, AluOp::Max, AluOp::IsGe); }
Value minimum_integer(const Request& r) { return extreme(r, AluOp::Min, AluOp::IsLe); }

Value clamp_integer(const Request& r) {
  const Value raised = maximum_integer({r.graph, {r.x[1], r.x[0]}, r.attributes, r.result});
  return minimum_integer({r.graph, {raised, r.x[2]}, r.attributes, r.result});
}

Value and_integer(const Request& r) { return r.graph.bits(AluOp::BitwiseAnd, r.a(), r.b()); }
Value or_integer(const Request& r) { return r.graph.bits(AluOp::BitwiseOr, r.a(), r.b()); }
Value xor_integer(const Request& r) { return r.graph.bits(AluOp::BitwiseXor, r.a(), r.b()); }
Value not_integer(const Request& r) { return r.graph.bit_not(r.a()); }

Value and_pred(const Request& r) { return r.graph.alu(AluOp::LogicalAnd, r.a(), r.b(), Dtype::Pred); }
Value or_pred(const Request& r) { return r.graph.alu(AluOp::LogicalOr, r.a(), r.b(), Dtype::Pred); }
Value xor_pred(const Request& r) { return r.graph.alu(AluOp::LogicalXor, r.a(), r.b(), Dtype::Pred); }
Value not_pred(const Request& r) { return test(AluOp::IsEqual, r.a(), 0); }

// The machine reads the amount as unsigned, shifts every bit out from the width on, and fills with the
// operand's own top bit in the arithmetic case: HLO's rules as they stand.
Value shift_left(const Request& r) { return r.graph.bits(AluOp::LogicalShiftLeft, r.a(), r.b()); }
Value shift_right_logical(const Request& r) { return r.graph.bits(AluOp::LogicalShiftRight, r.a(), r.b()); }
Value shift_right_arithmetic(const Request& r) { return r.graph.bits(AluOp::ArithShiftRight, r.a(), r.b()); }

// Counts in fields of 2, 4 and 8 bits side by side, then adds the four bytes by one multiplication.
Value population_count(const Request& r) {
  const Dtype raw = unsigned_type(r.result);
  const Value x = r.graph.copy(r.graph.bitcast(r.a(), raw), Dtype::U32);
  const Value pairs = subtract32(x, bit_and(shift_right_logical(x, 1), 0x55555555));
  const Value fours = add32(bit_and(pairs, 0x33333333), bit_and(shift_right_logical(pairs, 2), 0x33333333));
  const Value bytes = bit_and(add32(fours, shift_right_logical(fours, 4)), 0x0F0F0F0F);
  const Value count = shift_right_logical(multiply32(bytes, r.graph.integer(Dtype::U32, 0x01010101)), 24);
  return is_wide(r.result) ? r.graph.bitcast(count, r.result) : r.graph.copy(count, r.result);
}

// The exponent of the value as a float. Clearing every bit below a set neighbour keeps the highest bit and
// leaves the rest too small to round up to the next power of two.
Value count_leading_zeros(const Request& r) {
  const Dtype raw = unsigned_type(r.result);
  const int width = info(raw).bits;
  const Value x = r.graph.bitcast(r.a(), raw);
  const Value top = r.graph.bits(AluOp::BitwiseAnd, x, r.graph.bit_not(shift_right_logical(x, 1)));
  const Value exponent = shift_right_logical(r.graph.bitcast(r.graph.copy(top, Dtype::F32), Dtype::U32), 23);
  return r.graph.round_to(min(exponent * -1.0f + static_cast<float>(126 + width), static_cast<float>(width)),
                          r.result);
}

// Repeated squaring. Negative exponents: 1 stays 1, -1 alternates, every other base gives 0.
Value power_integer(const Request& r) {
  Graph& graph = r.graph;
  const Value base = to_wide(r.a());
  const Dtype type = base.dtype();
  const Value one = graph.integer(type, 1);
  const bool is_signed = is_signed_int(type);
  if (r.b().is_scalar()) {
    const uint64_t bits = graph.node(r.b()).scalar;
    const int64_t exponent = load_as_int64(r.b().dtype(), &bits);
    if (exponent >= 0) {
      std::optional<Value> product;
      Value square = base;
      for (int64_t rest = exponent; rest != 0; rest >>= 1) {
        if (rest & 1) product = product ? multiply32(*product, square) : square;
        if (rest > 1) square = multiply32(square, square);
      }
      return wrap(product ? *product : one, r.result);
    }
  }
  const Value exponent = to_wide(r.b());
  Value product = one, square = base;
  const int exponent_bits = info(r.b().dtype()).bits - (is_signed ? 1 : 0);
  for (int bit = 0; bit < exponent_bits; ++bit) {
    const Value is_set = bit_and(shift_right_logical(exponent, bit), 1);
    product = select(is_set, multiply32(product, square), product);
    if (bit + 1 < exponent_bits) square = multiply32(square, square);
  }
  if (is_signed && exponent.range().low < 0) {
    const Value is_one = test(AluOp::IsEqual, base, 1), is_minus_one = test(AluOp::IsEqual, base, -1);
    const Value parity = graph.alu(AluOp::Add, bit_and(exponent, 1) * -2.0f, graph.f32(1), type);
    const Value inverse = select(is_minus_one, parity, graph.copy(is_one, type));
    product = select(test(AluOp::IsLt, exponent, 0), inverse, product);
  }
  return wrap(product, r.result);
}

}  // namespace ncc::hlo_opt::math_expansion
