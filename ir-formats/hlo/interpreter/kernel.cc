// Which kernel computes an instruction, and in which types.
#include "ir-formats/hlo/interpreter/kernel.h"

namespace ncc::hlo {
namespace {

Dtype real_part(Dtype type) {
  if (type == Dtype::C64) return Dtype::F32;
  return type == Dtype::C128 ? Dtype::F64 : type;
}

bool gives_pred(Opcode op) {
  return op == Opcode::IsFinite || op == Opcode::IsInf || op == Opcode::IsNegInf || op == Opcode::IsPosInf;
}

Binding unary(const Instruction& inst) {
  const Dtype storage = inst.operand_shape(0).dtype;
  const Dtype type = compute_type(storage);
  Binding b{.kernel = nullptr, .arity = 1, .in = {type}, .out = type, .p0 = info(storage).bits};
  if (inst.is(Opcode::Convert) || inst.is(Opcode::Copy) || inst.is(Opcode::BitcastConvert)) {
    b.out = inst.shape.dtype;
    b.kernel = convert_kernel(type, b.out);
    if (!inst.is(Opcode::Convert) || storage == b.out) {  // bits unchanged
      if (size_bytes(storage) != size_bytes(b.out)) return {};
      b.in[0] = storage;
      b.kernel = copy_kernel(size_bytes(storage));
    }
    return b;
  }
  if (inst.is(Opcode::ReducePrecision)) {
    b.p0 = inst.attrs().exponent_bits;
    b.p1 = inst.attrs().mantissa_bits;
  }
  if (is_complex(type)) {
    b.kernel = complex_unary_kernel(inst.opcode, type);
    if (inst.is(Opcode::Abs) || inst.is(Opcode::Real) || inst.is(Opcode::Imag)) b.out = real_part(type);
  } else if (is_float(type)) {
    b.kernel = real_unary_kernel(inst.opcode, type);
    if (gives_pred(inst.opcode)) b.out = Dtype::Pred;
  } else {
    b.kernel = int_unary_kernel(inst.opcode, type);
  }
  return b;
}

Binding binary(const Instruction& inst) {
  const Dtype storage = inst.operand_shape(0).dtype;
  const Dtype type = compute_type(storage);
  Binding b{.kernel = nullptr, .arity = 2, .in = {type, type}, .out = type, .p0 = info(storage).bits};
  if (inst.is(Opcode::NextAfter)) {
    b.in[0] = b.in[1] = b.out = storage;
    b.kernel = next_after_kernel(storage);
  } else if (is_complex(type)) {
    b.kernel = complex_binary_kernel(inst.opcode, type);
  } else if (is_float(type)) {
    b.kernel = real_binary_kernel(inst.opcode, type);
    if (inst.is(Opcode::Complex)) b.out = type == Dtype::F64 ? Dtype::C128 : Dtype::C64;
  } else {
    b.kernel = int_binary_kernel(inst.opcode, type);
  }
  return b;
}

}  // namespace

Binding bind_kernel(const Instruction& inst) {
  const Dtype first = inst.num_operands() > 0 ? inst.operand_shape(0).dtype : inst.shape.dtype;
  switch (inst.opcode) {
    case Opcode::Compare: {
      const Dtype type = compute_type(first);
      const bool total = inst.compare_type == CompareType::TotalOrder;
      return {.kernel = compare_kernel(inst.direction, total, type),
              .arity = 2,
              .in = {type, type},
              .out = Dtype::Pred};
    }
    case Opcode::Select: {
      const Dtype type = inst.operand_shape(1).dtype;
      return {.kernel = select_kernel(size_bytes(type)),
              .arity = 3,
              .in = {Dtype::Pred, type, type},
              .out = type};
    }
    case Opcode::Clamp: {
      const Dtype type = compute_type(inst.operand_shape(1).dtype);
      return {.kernel = clamp_kernel(type), .arity = 3, .in = {type, type, type}, .out = type};
    }
    case Opcode::BitcastConvert:
    case Opcode::Copy:
      return unary(inst);
    default:
      if (inst.info().kind == OpKind::Unary) return unary(inst);
      if (inst.info().kind == OpKind::Binary) return binary(inst);
      return {};
  }
}

}  // namespace ncc::hlo
