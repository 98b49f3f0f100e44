#include <numeric>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

// Table class of an element type: P, I, F, C, or T for tokens and the rest.
char class_of(Dtype dtype) {
  switch (info(dtype).kind) {
    case DtypeKind::Pred:
      return 'P';
    case DtypeKind::Signed:
    case DtypeKind::Unsigned:
      return 'I';
    case DtypeKind::Float:
      return 'F';
    case DtypeKind::Complex:
      return 'C';
    case DtypeKind::Opaque:
      return 'T';
  }
  return 'T';
}

Status check_class(const Instruction& inst, int64_t operand) {
  const Shape& shape = inst.operand_shape(operand);
  const std::string_view classes = inst.info().operand_classes;
  if (!shape.is_array())
    return mismatch(inst, "operand kind", fmt::format("operand {}", operand), to_string(shape), "an array");
  if (classes.empty() || shape.quantization || classes.find(class_of(shape.dtype)) != std::string_view::npos)
    return Status::ok();
  return mismatch(inst, "element type", fmt::format("operand {}", operand), info(shape.dtype).hlo,
                  fmt::format("one of the classes {} (P pred, I integer, F float, C complex)", classes));
}

Dtype part_of(Dtype dtype) {
  if (dtype == Dtype::C64) return Dtype::F32;
  return dtype == Dtype::C128 ? Dtype::F64 : dtype;
}

Status same_shape(const Instruction& inst, int64_t a, int64_t b, std::string_view label) {
  if (compatible(inst.operand_shape(a), inst.operand_shape(b))) return Status::ok();
  const bool quantized = inst.operand_shape(a).quantization || inst.operand_shape(b).quantization;
  if (quantized && same_dims(inst.operand_shape(a), inst.operand_shape(b))) return Status::ok();
  return mismatch(
      inst, label, fmt::format("shapes of operands {} and {}", a, b),
      fmt::format("{} and {}", to_string(inst.operand_shape(a)), to_string(inst.operand_shape(b))),
      "equal ones");
}

Shape plain(const Shape& from, Dtype dtype) {
  Shape shape = from;
  shape.dtype = dtype;
  shape.minor_to_major.clear();
  shape.layout_extras.reset();
  if (dtype != from.dtype) shape.quantization.reset();
  return shape;
}

Result<Shape> infer_unary(const Instruction& inst) {
  NCC_TRY(check_class(inst, 0));
  const Shape& operand = inst.operand_shape(0);
  switch (inst.opcode) {
    case Opcode::Abs:
    case Opcode::Real:
    case Opcode::Imag:
      return plain(operand, part_of(operand.dtype));
    case Opcode::IsFinite:
    case Opcode::IsInf:
    case Opcode::IsNegInf:
    case Opcode::IsPosInf:
      return plain(operand, Dtype::Pred);
    case Opcode::Convert:
      return plain(operand, inst.shape.dtype);
    case Opcode::ReducePrecision:
      if (inst.attrs().exponent_bits < 1)
        return mismatch(inst, "reduce_precision_c2", "exponent bits", inst.attrs().exponent_bits,
                        "at least 1");
      if (inst.attrs().mantissa_bits < 0)
        return mismatch(inst, "reduce_precision_c3", "mantissa bits", inst.attrs().mantissa_bits,
                        "at least 0");
      return plain(operand, operand.dtype);
    default:
      return plain(operand, operand.dtype);
  }
}

Result<Shape> infer_binary(const Instruction& inst) {
  NCC_TRY(check_class(inst, 0));
  if (inst.is(Opcode::StochasticConvert)) {
    if (!same_dims(inst.operand_shape(0), inst.operand_shape(1)))
      return mismatch(inst, "stochastic_convert", "random bits", to_string(inst.operand_shape(1)),
                      "the value's dimensions");
    return plain(inst.operand_shape(0), inst.shape.dtype);
  }
  NCC_TRY(same_shape(inst, 0, 1, fmt::format("{}_c1", name(inst.opcode))));
  const Shape& lhs = inst.operand_shape(0);
  if (inst.is(Opcode::Complex)) {
    if (lhs.dtype != Dtype::F32 && lhs.dtype != Dtype::F64)
      return mismatch(inst, "complex_c3", "element type", info(lhs.dtype).hlo, "f32 or f64");
    return plain(lhs, lhs.dtype == Dtype::F32 ? Dtype::C64 : Dtype::C128);
  }
  return plain(lhs, lhs.dtype);
}

Status check_bound(const Instruction& inst, int64_t operand, std::string_view label) {
  const Shape& bound = inst.operand_shape(operand);
  const Shape& value = inst.operand_shape(1);
  if (bound.dtype != value.dtype)
    return mismatch(inst, "clamp_c3", fmt::format("element type of operand {}", operand),
                    info(bound.dtype).hlo, info(value.dtype).hlo);
  if (bound.is_scalar() || same_dims(bound, value)) return Status::ok();
  return mismatch(inst, label, fmt::format("operand {}", operand), to_string(bound),
                  fmt::format("a scalar or {}", to_string(value)));
}

// The type of comparison that the element type allows; Default always does.
Status check_compare_type(const Instruction& inst) {
  const Dtype dtype = inst.operand_shape(0).dtype;
  std::string_view allowed = is_signed_int(dtype) ? "SIGNED"
                             : is_float(dtype)    ? "FLOAT or TOTALORDER"
                             : is_complex(dtype)  ? "FLOAT"
                                                  : "UNSIGNED";
  if (inst.compare_type == CompareType::Default ||
      allowed.find(name(inst.compare_type)) != std::string_view::npos)
    return Status::ok();
  return mismatch(inst, "compare_c3", fmt::format("comparison of {}", info(dtype).hlo),
                  name(inst.compare_type), allowed);
}

Result<Shape> infer_compare(const Instruction& inst) {
  NCC_TRY(check_class(inst, 0));
  NCC_TRY(check_class(inst, 1));
  const Shape &lhs = inst.operand_shape(0), &rhs = inst.operand_shape(1);
  if (lhs.dtype != rhs.dtype)
    return mismatch(inst, "compare_c1", "element types",
                    fmt::format("{} and {}", info(lhs.dtype).hlo, info(rhs.dtype).hlo), "equal ones");
  NCC_TRY(same_shape(inst, 0, 1, "compare_c2"));
  NCC_TRY(check_compare_type(inst));
  return plain(lhs, Dtype::Pred);
}

// The values are of the type that the quantized side expresses.
Result<Shape> infer_quantize(const Instruction& inst) {
  const Shape &from = inst.operand_shape(0), &to = inst.shape;
  const bool quantizes = inst.is(Opcode::UniformQuantize);
  const std::string op = quantizes ? "uniform_quantize" : "uniform_dequantize";
  if (!same_dims(from, to)) return mismatch(inst, op + "_c1", "result", to_string(to), dims_text(from.dims));
  const Shape& quantized = quantizes ? to : from;
  if (!quantized.quantization)
    return mismatch(inst, op + "_c2", quantizes ? "result" : "operand", to_string(quantized),
                    "a quantized type");
  const Shape& other = quantizes ? from : to;
  const Dtype expressed = other.quantization ? other.quantization->expressed : other.dtype;
  if (expressed != quantized.quantization->expressed)
    return mismatch(inst, op + "_c2", "expressed type", info(expressed).hlo,
                    info(quantized.quantization->expressed).hlo);
  return to;
}

Result<Shape> infer_map(const Instruction& inst) {
  if (inst.num_operands() == 0) return mismatch(inst, "map_c2", "number of operands", 0, "at least 1");
  const Shape& first = inst.operand_shape(0);
  for (int64_t i = 1; i < inst.num_operands(); ++i) {
    if (!same_dims(inst.operand_shape(i), first))
      return mismatch(inst, "map_c1", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      dims_text(first.dims));
  }
  std::vector<int64_t> all(first.dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (!inst.dimensions.empty() && inst.dimensions != all)
    return mismatch(inst, "map_c3", "dimensions", dims_text(inst.dimensions), dims_text(all));
  NCC_TRY(check_scalar_body(inst, *inst.body(), inst.num_operands(), 1, "map_c4"));
  return plain(first, inst.body()->root()->shape.dtype);
}

}  // namespace

Result<Shape> infer_elementwise(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Compare:
      return infer_compare(inst);
    case Opcode::Clamp:
      NCC_TRY(check_class(inst, 1));
      NCC_TRY(check_bound(inst, 0, "clamp_c1"));
      NCC_TRY(check_bound(inst, 2, "clamp_c2"));
      return plain(inst.operand_shape(1), inst.operand_shape(1).dtype);
    case Opcode::Select: {
      const Shape& pred = inst.operand_shape(0);
      NCC_TRY(same_shape(inst, 1, 2, "select_c2"));
      if (pred.dtype != Dtype::Pred || !(pred.is_scalar() || same_dims(pred, inst.operand_shape(1))))
        return mismatch(inst, "select_c1", "predicate", to_string(pred),
                        fmt::format("pred[] or pred{}", dims_text(inst.operand_shape(1).dims)));
      return inst.operand_shape(1).is_tuple() ? inst.operand_shape(1)
                                              : plain(inst.operand_shape(1), inst.operand_shape(1).dtype);
    }
    case Opcode::Map:
      return infer_map(inst);
    default:
      if (inst.info().kind == OpKind::Quantize) return infer_quantize(inst);
      return inst.info().kind == OpKind::Unary ? infer_unary(inst) : infer_binary(inst);
  }
}

}  // namespace ncc::hlo
