#include "ir-formats/hlo/verify.h"

#include <algorithm>

#include "ir-formats/hlo/infer.h"
#include "ir-formats/hlo/structure.h"

namespace ncc::hlo {
namespace {

// Shapes that the rules cannot follow exactly: dynamic sizes, and quantized element types, whose scales an op
// may change.
bool is_loose(const Shape& shape) {
  if (shape.is_tuple()) return std::any_of(shape.elements.begin(), shape.elements.end(), is_loose);
  return shape.dynamic_mask != 0 || shape.quantization != nullptr;
}

bool is_loose(const Instruction& inst) {
  return is_loose(inst.shape) ||
         std::any_of(inst.operands.begin(), inst.operands.end(),
                     [](const Instruction* operand) { return is_loose(operand->shape); });
}

// Data ops work on arrays; tuples and tokens pass through calls, control flow and copies alone.
Status check_arrays(const Instruction& inst) {
  if (inst.is(Opcode::Copy) || inst.is(Opcode::Bitcast)) return Status::ok();
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    if (!inst.operand_shape(i).is_array())
      return mismatch(inst, "operand kind", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      "an array");
  }
  return Status::ok();
}

Status verify_instruction(const Instruction& inst) {
  NCC_TRY(check_shape(inst.shape, describe(inst)).with_loc(inst.loc));
  if (is_loose(inst)) return Status::ok();
  const Result<Shape> derived = infer_shape(inst);
  if (!derived.is_ok()) return derived.status();
  if (!compatible(derived.value(), inst.shape))
    return error(Code::EVRF004, inst.loc, fmt::format("{}: shape of the result", describe(inst)),
                 to_string(inst.shape), to_string(derived.value()));
  return Status::ok();
}

}  // namespace

Result<Shape> infer_shape(const Instruction& inst) {
  switch (inst.info().kind) {
    case OpKind::Unary:
    case OpKind::Binary:
    case OpKind::Elementwise:
    case OpKind::Quantize:
      return infer_elementwise(inst);
    case OpKind::Source:
    case OpKind::Shape:
      NCC_TRY(check_arrays(inst));
      return infer_movement(inst);
    case OpKind::Index:
      NCC_TRY(check_arrays(inst));
      return infer_indexing(inst);
    case OpKind::Reduce:
    case OpKind::Window:
      NCC_TRY(check_arrays(inst));
      return infer_reduction(inst);
    case OpKind::Contract:
    case OpKind::Linalg:
    case OpKind::Rng:
      NCC_TRY(check_arrays(inst));
      return infer_contraction(inst);
    case OpKind::Control:
    case OpKind::Tuple:
    case OpKind::Token:
    case OpKind::Collective:
    case OpKind::Async:
      return infer_control(inst);
    case OpKind::Dynamic:
      return inst.shape;
  }
  return inst.shape;
}

Status verify(const Module& module) {
  NCC_TRY(check_structure(module));
  for (const Computation* computation : module.post_order()) {
    for (const auto& inst : computation->instructions()) NCC_TRY(verify_instruction(*inst));
  }
  return Status::ok();
}

}  // namespace ncc::hlo
