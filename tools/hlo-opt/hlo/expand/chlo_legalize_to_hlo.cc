// CHLO ops without an HLO opcode that HLO ops express exactly:
//   square(x)      -> x * x
//   conj(x)        -> x of a real type, complex(real(x), -imag(x))
//   is-inf(x)      -> |x| = inf; is-pos-inf, is-neg-inf likewise
//   next-after(x, y), 16 bits and more: one step of the bits of x towards y; y where they are equal, NaN
//   where
//                     either is one
//   mulhi(a, b) of 32 bits and less: the upper half of the product in twice the width
// Source: spec/stablehlo-text.md §2 (CHLO).
#include <limits>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value conj(Value x) {
  if (!is_complex(x.dtype())) return x;
  return binary(Opcode::Complex, unary(Opcode::Real, x), -unary(Opcode::Imag, x));
}

std::optional<Dtype> integer_of_bits(int64_t bits, bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? Dtype::S8 : Dtype::U8;
    case 16:
      return is_signed ? Dtype::S16 : Dtype::U16;
    case 32:
      return is_signed ? Dtype::S32 : Dtype::U32;
    case 64:
      return is_signed ? Dtype::S64 : Dtype::U64;
    default:
      return std::nullopt;
  }
}

// Bits of floats of one sign are ordered like their magnitudes.
Value next_after(Value x, Value y, Dtype bits_type) {
  const Value bits = x.bits_as(bits_type);
  const double sign_place = static_cast<double>(info(bits_type).bits - 1);
  const Value sign_of_y = shift_right(y.bits_as(bits_type), sign_place) << sign_place;
  const Value grows = equal(less(x, y).to(bits_type), greater(x, 0).to(bits_type));
  const Value stepped = select(equal(x, 0), sign_of_y | 1, select(grows, bits + 1, bits - 1));
  const Value moved = select(equal(x, y), y, stepped.bits_as(x.dtype()));
  return select(is_nan(x) | is_nan(y), x.like(std::numeric_limits<double>::quiet_NaN()), moved);
}

std::optional<Value> expansion(ComputationEditor& edit, Instruction* inst) {
  const Value x(edit, inst->operand(0));
  switch (inst->opcode) {
    case Opcode::Square:
      return x * x;
    case Opcode::Conj:
      return conj(x);
    case Opcode::IsInf:
      return equal(abs(x), kInfinity);
    case Opcode::IsPosInf:
      return equal(x, kInfinity);
    case Opcode::IsNegInf:
      return equal(x, -kInfinity);
    case Opcode::NextAfter: {
      const int64_t bits = info(x.dtype()).bits;
      if (bits < 16) return std::nullopt;
      return next_after(x, {edit, inst->operand(1)}, *integer_of_bits(bits, false));
    }
    case Opcode::MulHi: {
      const int64_t bits = info(x.dtype()).bits;
      const auto wide = integer_of_bits(2 * bits, is_signed_int(x.dtype()));
      if (bits < 8 || !wide) return std::nullopt;
      const Value product = x.to(*wide) * Value(edit, inst->operand(1)).to(*wide);
      return shift_right(product, static_cast<double>(bits)).to(x.dtype());
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

Status chlo_legalize_to_hlo(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (inst->info().origin != hlo::OpOrigin::Chlo && !inst->is(Opcode::MulHi)) return Status::ok();
    if (!inst->operand_shape(0).is_array() || inst->operand_shape(0).quantization ||
        inst->shape.is_dynamic() || edit.is_pinned(inst))
      return Status::ok();
    if (const auto value = expansion(edit, inst)) {
      if (value->inst() != inst) edit.replace(inst, value->inst());
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
