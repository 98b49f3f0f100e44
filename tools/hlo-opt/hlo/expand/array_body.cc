#include "tools/hlo-opt/hlo/expand/array_body.h"

#include <unordered_map>

namespace ncc::hlo_passes {

bool is_elementwise_body(const Computation& body) {
  for (const auto& inst : body.instructions()) {
    const bool is_root_tuple = inst->is(Opcode::Tuple) && inst.get() == body.root();
    if (is_root_tuple) continue;
    const bool known = inst->is(Opcode::Parameter) || inst->is(Opcode::Constant) ||
                       (inst->info().elementwise && !inst->is(Opcode::Map)) ||
                       inst->is(Opcode::BitcastConvert);
    if (!known || !inst->shape.is_scalar() || inst->shape.quantization) return false;
  }
  return true;
}

Instruction* applied_body(ComputationEditor& edit, const Computation& body,
                          const std::vector<Instruction*>& arguments) {
  const Dims dims = arguments[0]->shape.dims;
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const Instruction* inst : body.post_order()) {
    if (inst->is(Opcode::Parameter)) {
      copies[inst] = edit.convert(arguments[static_cast<size_t>(inst->index)], inst->shape.dtype);
    } else if (inst->is(Opcode::Constant)) {
      copies[inst] = edit.broadcast_scalar(edit.constant(inst->literal), dims);
    } else {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inst->operands) operands.push_back(copies.at(operand));
      if (inst->is(Opcode::Tuple)) {
        copies[inst] = edit.tuple(std::move(operands));
        continue;
      }
      Instruction* copy = edit.clone(inst, std::move(operands));
      copy->shape = Shape::array(inst->shape.dtype, dims);
      copies[inst] = copy;
    }
  }
  return copies.at(body.root());
}

}  // namespace ncc::hlo_passes
