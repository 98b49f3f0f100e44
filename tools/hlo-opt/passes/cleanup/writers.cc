#include "tools/hlo-opt/passes/cleanup/writers.h"

#include "ir-formats/penguin/walk.h"

namespace ncc::hlo_opt {

using namespace penguin;

std::vector<std::vector<Inst*>> find_writers(Function& function) {
  std::vector<std::vector<Inst*>> writers(function.tensors.size());
  walk(function.body, [&](Inst& inst) { writers[inst.result.tensor].push_back(&inst); });
  return writers;
}

bool is_replaceable(const Function& function, TensorId id, const std::vector<std::vector<Inst*>>& writers) {
  const Tensor& tensor = function.tensors[id];
  return tensor.role != Role::Input && tensor.role != Role::Const && tensor.alias_of == kNone &&
         writers[id].size() == 1;
}

void make_copy(Inst& inst, Operand operand) {
  inst.op = TensorOp::Map;
  inst.function = ScalarFunction::Copy;
  inst.attributes = {};
  inst.operands = {std::move(operand)};
}

}  // namespace ncc::hlo_opt
