#include "ir-formats/hlo/verify.h"

#include <algorithm>

#include "ir-formats/hlo/infer.h"
#include "ir-formats/hlo/structure.h"

namespace ncc::hlo {
namespace {

// Any leaf of the result or of an operand for which `test` holds.
template <class Test>
bool any_leaf(const Shape& shape, const Test& test) {
  if (!shape.is_tuple()) return test(shape);
  return std::any_of(shape.elements.begin(), shape.elements.end(),
                     [&](const Shape& s) { return any_leaf(s, test); });
}
template <class Test>
bool any_leaf(const Instruction& inst, const Test& test) {
  return any_leaf(inst.shape, test) ||
         std::any_of(inst.operands.begin(), inst.operands.end(),
                     [&](const Instruction* operand) { return any_leaf(operand->shape, test); });
}

bool is_dynamic(const Shape& shape) { return shape.dynamic_mask != 0; }
// Scales and storage types are the op's to choose; only dimensions are compared.
bool is_quantized(const Shape& shape) { return shape.quantization != nullptr; }

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
  // The rules do not follow sizes that are known only at run time.
  if (any_leaf(inst, is_dynamic) && inst.info().kind != OpKind::Dynamic) return Status::ok();
  const Result<Shape> derived = infer_shape(inst);
  if (!derived.is_ok()) return derived.status();
  const bool agrees = any_leaf(inst, is_quantized) ? same_dims(derived.value(), inst.shape)
                                                   : compatible(derived.value(), inst.shape);
  if (!agrees)
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
      NCC_TRY(check_arrays(inst));
      return infer_contraction(inst);
    case OpKind::Rng:
      NCC_TRY(check_arrays(inst));
      return infer_random(inst);
    case OpKind::Control:
    case OpKind::Tuple:
      return infer_control(inst);
    case OpKind::Token:
    case OpKind::Async:
      return infer_effect(inst);
    case OpKind::Collective:
      return infer_collective(inst);
    case OpKind::Dynamic:
      NCC_TRY(check_arrays(inst));
      return infer_dynamic(inst);
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
