// Elementwise ops become Maps; on constants they are folded, on an iota they stay an affine index where that
// is exact.
#include "ir-formats/penguin/interpret/functions.h"
#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::ScalarFunction;

namespace {

ScalarFunction function_of(hlo::Opcode opcode) {
  switch (opcode) {
#define LOWERING(op, handler, function) \
  case hlo::Opcode::op:                 \
    return ScalarFunction::function;
#include "tools/hlo2penguin/lowering.def"
    default:
      return ScalarFunction::Copy;
  }
}

penguin::TensorAttributes attributes_of(const hlo::Instruction& inst) {
  penguin::TensorAttributes out;
  if (inst.is(hlo::Opcode::ReducePrecision)) {
    out.exponent_bits = static_cast<int>(inst.attrs().exponent_bits);
    out.mantissa_bits = static_cast<int>(inst.attrs().mantissa_bits);
  }
  if (inst.is(hlo::Opcode::Compare)) {
    out.comparison = static_cast<penguin::Comparison>(inst.direction);
    out.total_order = inst.compare_type == hlo::CompareType::TotalOrder;
  }
  return out;
}
static_assert(static_cast<int>(penguin::Comparison::Lt) == static_cast<int>(hlo::CompareDirection::LT));
static_assert(static_cast<int>(penguin::Comparison::Ge) == static_cast<int>(hlo::CompareDirection::GE));

}  // namespace

View Lowering::emit_elementwise(Emission emission, Dtype dtype) {
  const std::vector<int64_t> shape = emission.operands.front().shape();
  bool all_scalar = true;
  std::vector<penguin::Operand> scalars;
  for (const View& operand : emission.operands) {
    all_scalar &= operand.is_scalar();
    if (all_scalar)
      scalars.push_back(
          {operand.kind(), operand.dtype(), penguin::kNone, {}, operand.scalar_bits(), nullptr});
  }
  if (all_scalar) {
    const uint64_t bits = penguin::evaluate_scalar(emission.function, emission.attributes, scalars, dtype);
    return View::scalar(builder_.affine(), dtype, bits, shape);
  }
  if (emission.operands.front().num_elements() == 0) return View::scalar(builder_.affine(), dtype, 0, shape);
  return builder_.emit_new(std::move(emission), dtype);
}

Result<Value> Lowering::lower_elementwise(const Instruction& inst) {
  Emission out = emission(inst);
  out.function = function_of(inst.opcode);
  out.attributes = attributes_of(inst);
  out.operands = views(inst);
  // Scalar predicates of select and scalar bounds of clamp.
  for (View& operand : out.operands)
    if (operand.rank() == 0 && inst.shape.rank() > 0) operand = operand.broadcast({}, inst.shape.dims);
  if (inst.is(hlo::Opcode::Convert) && inst.operand_shape(0).dtype == inst.shape.dtype)
    return Value(out.operands[0]);
  if (inst.is(hlo::Opcode::Select) && out.operands[0].is_scalar())
    return Value(out.operands[out.operands[0].scalar_bits() != 0 ? 1 : 2]);
  return Value(emit_elementwise(std::move(out), inst.shape.dtype));
}

Result<Value> Lowering::lower_bitcast_convert(const Instruction& inst) {
  if (size_bytes(inst.shape.dtype) != size_bytes(inst.operand_shape(0).dtype))
    return unsupported(inst, "the element types differ in width");
  return lower_elementwise(inst);
}

Result<Value> Lowering::lower_map(const Instruction& inst) {
  // The body is executed once on whole arrays: its ops are elementwise, scalars in it are repeated.
  const hlo::Computation& body = *inst.body();
  std::unordered_map<const Instruction*, View> values;
  for (const Instruction* op : body.post_order()) {
    if (op->is(hlo::Opcode::Parameter)) {
      values.emplace(op, view(inst, op->index));
    } else if (op->is(hlo::Opcode::Constant) && op->literal.is_valid()) {
      values.emplace(op, constant(op->literal, *op).view->broadcast({}, inst.shape.dims));
    } else if (op->info().elementwise && has_lowering(op->opcode) && !op->is(hlo::Opcode::Map)) {
      Emission out = emission(*op);
      out.function = function_of(op->opcode);
      out.attributes = attributes_of(*op);
      for (const Instruction* in : op->operands) out.operands.push_back(values.at(in));
      values.emplace(op, emit_elementwise(std::move(out), op->shape.dtype));
    } else {
      return unsupported(inst, fmt::format("its body applies '{}'", hlo::name(op->opcode)));
    }
  }
  return Value(values.at(body.root()));
}

}  // namespace ncc::hlo2penguin
