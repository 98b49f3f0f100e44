#include "tools/hlo-opt/hlo/collective/gather_motion.h"

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/loops.h"
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

std::vector<Instruction*> gathers_of(Computation* body) {
  const ComputationEditor edit(body);
  std::vector<Instruction*> gathers;
  for (Instruction* inst : body->post_order())
    if (is_simple_collective(edit, inst, Opcode::AllGather) && body->root() != inst && process_groups(*inst))
      gathers.push_back(inst);
  return gathers;
}

}  // namespace

bool is_state_element(const Instruction* value) {
  return value->is(Opcode::GetTupleElement) && value->operand(0)->is(Opcode::Parameter);
}

bool is_invariant_element(const Instruction& loop, const Instruction* value) {
  return is_state_element(value) && is_plain_array(value) && is_invariant(loop, value->index);
}

Instruction* carried(ComputationEditor& body, const Instruction& loop) {
  Instruction* parameter = loop.while_body()->parameters()[0];
  return body.element(parameter, static_cast<int64_t>(loop.shape.elements.size()) - 1);
}

Status move_gathers(hlo::Module& module, int64_t& changes, GatherMove move) {
  const auto callers = caller_counts(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::While)) continue;
      Instruction* loop = inst;
      if (!owns_its_state(edit, *loop, callers)) continue;
      edit.set_location(inst->loc);
      for (Instruction* gather : gathers_of(loop->while_body())) {
        Instruction* made = move(edit, loop, gather);
        if (!made) continue;
        edit.erase(loop);
        loop = made;
      }
    }
    changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
