// Constants that a loop only carries move into its body and condition, where folding sees them:
//   get-tuple-element(state, i), i invariant and initially a constant or a broadcast of a scalar constant
//     -> the constant
// Values are shared, not copied. Source: spec/hlo-front-half.md §4.16 (112: constant sinking first).
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_sinkable(const Instruction* value) {
  return value && (value->is(Opcode::Constant) || value->is(Opcode::Iota) ||
                   (value->is(Opcode::Broadcast) && value->operand(0)->is(Opcode::Constant)));
}

Instruction* rebuild(ComputationEditor& edit, const Instruction* value) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : value->operands) operands.push_back(edit.clone(operand, {}));
  return edit.clone(value, std::move(operands));
}

Status sink_into(Computation* computation, const Instruction& loop, int64_t& changes) {
  ComputationEditor edit(computation);
  for (Instruction* inst : computation->post_order()) {
    if (!inst->is(Opcode::GetTupleElement) || !inst->operand(0)->is(Opcode::Parameter) || edit.is_dead(inst))
      continue;
    const Instruction* initial = initial_element(loop, inst->index);
    if (!is_invariant(loop, inst->index) || !is_sinkable(initial)) continue;
    // The root of the body keeps handing the element on: that is what makes it invariant.
    Instruction* root = computation->root();
    Instruction* constant = nullptr;
    for (Instruction* user : edit.users(inst)) {
      if (user == root) continue;
      if (!constant) constant = rebuild(edit, initial);
      for (int64_t slot = 0; slot < user->num_operands(); ++slot)
        if (user->operand(slot) == inst) edit.set_operand(user, slot, constant);
    }
  }
  changes += edit.changes();
  return edit.finish();
}

}  // namespace

Status while_loop_constant_sinking(hlo::Module& module, PassContext& context) {
  const auto callers = caller_counts(module);
  // Callers first: a constant may sink through several loops.
  const std::vector<Computation*> order = module.post_order();
  for (auto computation = order.rbegin(); computation != order.rend(); ++computation) {
    for (const auto& inst : (*computation)->instructions()) {
      if (!inst->is(Opcode::While) || !has_tuple_state(*inst) || callers.at(inst->while_body()) != 1 ||
          callers.at(inst->while_condition()) != 1)
        continue;
      NCC_TRY(sink_into(inst->while_condition(), *inst, context.changes));
      NCC_TRY(sink_into(inst->while_body(), *inst, context.changes));
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
