#include <algorithm>
#include <cmath>

#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/quantize.h"

namespace ncc::hlo {
namespace {

// Which entry of the scale list an element uses.
struct ScaleIndex {
  int64_t inner = 1, count = 1;
  ScaleIndex(const Shape& shape, const Quantization& q) {
    if (q.axis < 0) return;
    for (size_t d = static_cast<size_t>(q.axis) + 1; d < shape.dims.size(); ++d) inner *= shape.dims[d];
    count = shape.dims[static_cast<size_t>(q.axis)];
  }
  size_t of(int64_t i) const { return static_cast<size_t>(i / inner % count); }
};

Shape expressed_shape(const Shape& shape) {
  return shape.quantization ? Shape::array(shape.quantization->expressed, shape.dims) : shape;
}

}  // namespace

Literal dequantized(const Literal& stored, const Shape& shape) {
  const Quantization& q = *shape.quantization;
  const ScaleIndex index(shape, q);
  Literal out = Literal::zeros(expressed_shape(shape));
  const int64_t width = size_bytes(q.expressed);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const size_t s = index.of(i);
    const float real =
        static_cast<float>(stored.as_int64(i) - q.zero_points[s]) * static_cast<float>(q.scales[s]);
    store_from_double(q.expressed, out.mutable_data() + i * width, real);
  }
  return out;
}

Literal quantized(const Literal& real, const Shape& shape) {
  const Quantization& q = *shape.quantization;
  const ScaleIndex index(shape, q);
  Literal out = Literal::zeros(Shape::array(shape.dtype, shape.dims));
  const int64_t width = size_bytes(shape.dtype);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const size_t s = index.of(i);
    const float scaled = static_cast<float>(real.as_double(i)) / static_cast<float>(q.scales[s]) +
                         static_cast<float>(q.zero_points[s]);
    const double bounded = std::isnan(scaled) ? 0
                                              : std::clamp<double>(scaled, static_cast<double>(q.storage_min),
                                                                   static_cast<double>(q.storage_max));
    store_from_int64(shape.dtype, out.mutable_data() + i * width,
                     static_cast<int64_t>(std::nearbyint(bounded)));
  }
  return out;
}

bool computes_dequantized(const Instruction& inst) {
  const auto has_scale = [](const Shape& shape) { return shape.quantization != nullptr; };
  if (!has_scale(inst.shape) && std::none_of(inst.operands.begin(), inst.operands.end(),
                                             [&](const Instruction* o) { return has_scale(o->shape); }))
    return false;
  switch (inst.info().kind) {
    case OpKind::Unary:
    case OpKind::Binary:
    case OpKind::Contract:
    case OpKind::Linalg:
    case OpKind::Quantize:
      return true;
    case OpKind::Elementwise:
      return !inst.is(Opcode::Map);
    case OpKind::Dynamic:
      return inst.is(Opcode::DynamicConv);
    default:
      return false;
  }
}

Result<Literal> eval_quantized(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  // The op on plain operands: a copy whose operands are stand-ins with the expressed types.
  std::vector<Instruction> stand_ins(operands.size());
  Instruction plain;
  plain.opcode = inst.opcode;
  plain.direction = inst.direction;
  plain.compare_type = inst.compare_type;
  plain.name = inst.name;
  plain.shape = expressed_shape(inst.shape);
  plain.called = inst.called;
  plain.dimensions = inst.dimensions;
  plain.index = inst.index;
  plain.loc = inst.loc;
  plain.parent = inst.parent;
  if (inst.has_attrs()) plain.mutable_attrs() = inst.attrs();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = inst.operand_shape(static_cast<int64_t>(i));
    if (shape.quantization) operands[i] = dequantized(operands[i], shape);
    stand_ins[i].shape = expressed_shape(shape);
    plain.operands.push_back(&stand_ins[i]);
  }
  Literal value;
  if (inst.info().kind == OpKind::Quantize) {
    value = converted(operands[0], plain.shape.dtype);
  } else {
    NCC_ASSIGN(value, eval_function(inst.opcode)(evaluator, plain, operands));
  }
  return inst.shape.quantization ? quantized(value, inst.shape) : value;
}

}  // namespace ncc::hlo
