// An all-gather, in a loop, of what the loop does not change, through ops that compute nothing -> gathered
// before the loop and carried (gather_motion.h). Source: spec/hlo-front-half.md §4.16, §4.19 (105).
#include <optional>

#include "tools/hlo-opt/hlo/collective/gather_motion.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The unary ops between an invariant element and the gather, the nearest to the gather first.
std::optional<std::vector<Instruction*>> chain_to_invariant(const Instruction& loop, Instruction* value) {
  std::vector<Instruction*> chain;
  while (!is_invariant_element(loop, value)) {
    const bool is_free = value->is(Opcode::Reshape) || value->is(Opcode::Transpose) ||
                         value->is(Opcode::Convert) || value->is(Opcode::Copy) || value->is(Opcode::Slice);
    if (!is_free || !is_plain_array(value)) return std::nullopt;
    chain.push_back(value);
    value = value->operand(0);
  }
  chain.push_back(value);
  return chain;
}

// Returns the loop that now carries the gathered value, or nullptr.
Instruction* move_gather(ComputationEditor& edit, Instruction* loop, Instruction* gather) {
  const auto chain = chain_to_invariant(*loop, gather->operand(0));
  if (!chain || gather->shape.size_bytes() > kMaxCarriedBytes) return nullptr;
  Instruction* value = edit.element(loop->operand(0), chain->back()->index);
  for (size_t i = chain->size() - 1; i-- > 0;) value = edit.clone((*chain)[i], {value});
  value = edit.clone(gather, {value});
  Instruction* made = add_invariants(edit, loop, {value});
  ComputationEditor body(made->while_body());
  body.replace(gather, carried(body, *made));
  body.erase(gather);
  NCC_CHECK(body.finish().is_ok(), "a loop body has a cycle");
  return made;
}

}  // namespace

Status move_all_gather_while_loop(hlo::Module& module, PassContext& context) {
  return move_gathers(module, context.changes, move_gather);
}

}  // namespace ncc::hlo_passes
