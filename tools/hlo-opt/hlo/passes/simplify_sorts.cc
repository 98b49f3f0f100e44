// A sort carries only the operands that its comparator reads or somebody uses:
//   sort(k, v, unused) by k -> sort(k, v) by k
// Results are taken apart by get-tuple-element; at least one operand stays. Stability is kept as stated: with
// an unstable sort the order of equal keys is this interpreter's, which does not depend on other operands.
#include <algorithm>

#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

std::vector<bool> needed_operands(ComputationEditor& edit, const Instruction& sort) {
  std::vector<bool> needed(sort.operands.size(), false);
  for (const Instruction* user : edit.users(&sort)) needed[static_cast<size_t>(user->index)] = true;
  for (const auto& inst : sort.body()->instructions())
    for (const Instruction* operand : inst->operands)
      if (operand->is(Opcode::Parameter)) needed[static_cast<size_t>(operand->index / 2)] = true;
  if (sort.body()->root()->is(Opcode::Parameter))
    needed[static_cast<size_t>(sort.body()->root()->index / 2)] = true;
  return needed;
}

// The comparator without the parameters of dropped operands.
Computation* smaller_comparator(const Computation& body, const std::vector<bool>& needed) {
  Computation* made = body.module()->add_computation(body.name());
  std::unordered_map<const Instruction*, Instruction*> twins;
  int64_t next = 0;
  for (const Instruction* parameter : body.parameters()) {
    if (!needed[static_cast<size_t>(parameter->index / 2)]) continue;
    twins[parameter] = made->add_parameter(next++, parameter->shape, parameter->name);
  }
  for (const Instruction* inst : body.post_order()) {
    if (inst->is(Opcode::Parameter)) continue;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands) operands.push_back(twins.at(operand));
    twins[inst] = made->add_clone(*inst, std::move(operands));
  }
  made->set_root(twins.at(body.root()));
  return made;
}

}  // namespace

Status simplify_sorts(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::Sort) || !inst->shape.is_tuple() || edit.has_control_edge(inst) ||
        edit.computation()->root() == inst)
      return Status::ok();
    const std::vector<Instruction*> users = edit.users(inst);
    if (!std::all_of(users.begin(), users.end(),
                     [](const Instruction* user) { return user->is(Opcode::GetTupleElement); }))
      return Status::ok();
    const std::vector<bool> needed = needed_operands(edit, *inst);
    const auto count = std::count(needed.begin(), needed.end(), true);
    if (count == 0 || count == static_cast<int64_t>(needed.size())) return Status::ok();
    std::vector<Instruction*> operands;
    std::vector<int64_t> position(needed.size(), -1);
    for (size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      position[i] = static_cast<int64_t>(operands.size());
      operands.push_back(inst->operands[i]);
    }
    Instruction* made = edit.clone(inst, operands);
    made->called = {smaller_comparator(*inst->body(), needed)};
    made->shape = operands[0]->shape;
    if (operands.size() > 1) {
      made->shape = Shape::make_tuple({});
      for (const Instruction* operand : operands) made->shape.elements.push_back(operand->shape);
    }
    for (Instruction* user : users) {
      const int64_t at = position[static_cast<size_t>(user->index)];
      edit.replace(user, operands.size() > 1 ? edit.element(made, at) : made);
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
