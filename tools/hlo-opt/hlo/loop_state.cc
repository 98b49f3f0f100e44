#include "tools/hlo-opt/hlo/loop_state.h"

#include <algorithm>

namespace ncc::hlo_passes {
namespace {

bool is_only_taken_apart(const Computation& computation) {
  const Instruction* parameter = computation.parameters()[0];
  if (computation.root() == parameter) return false;
  return std::all_of(
      computation.instructions().begin(), computation.instructions().end(), [&](const auto& inst) {
        return inst->is(Opcode::GetTupleElement) ||
               std::find(inst->operands.begin(), inst->operands.end(), parameter) == inst->operands.end();
      });
}

// The parameter and its get-tuple-elements after the state has changed its shape; `position` maps old to new
// positions, -1 = dropped.
void reshape_parameter(Computation& computation, const Shape& shape, const std::vector<int64_t>& position) {
  Instruction* parameter = computation.parameters()[0];
  parameter->shape = shape;
  for (const auto& inst : computation.instructions()) {
    if (inst->is(Opcode::GetTupleElement) && inst->operand(0) == parameter) {
      // A dropped element is read by nobody that matters; any element of its type would do, but there may be
      // none: the reader is dead and goes with the next sweep.
      inst->index = position[static_cast<size_t>(inst->index)];
    }
  }
}

Instruction* loop_like(ComputationEditor& edit, const Instruction& loop, Instruction* initial) {
  Instruction* made = edit.clone(&loop, {initial});
  made->shape = initial->shape;
  // The layouts of the state are the initial value's from now on.
  made->mutable_attrs().sharding.clear();
  return made;
}

}  // namespace

std::unordered_map<const Computation*, int64_t> caller_counts(const hlo::Module& module) {
  std::unordered_map<const Computation*, int64_t> counts;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions())
      for (const Computation* called : inst->called) ++counts[called];
  return counts;
}

bool owns_its_state(ComputationEditor& edit, const Instruction& loop,
                    const std::unordered_map<const Computation*, int64_t>& callers) {
  if (!has_tuple_state(loop) || edit.has_control_edge(&loop) || edit.computation()->root() == &loop)
    return false;
  const auto is_own = [&](const Computation* called) {
    const auto found = callers.find(called);
    return found != callers.end() && found->second == 1;
  };
  if (!is_own(loop.while_body()) || !is_own(loop.while_condition())) return false;
  const std::vector<Instruction*> users = edit.users(&loop);
  return is_only_taken_apart(*loop.while_body()) && is_only_taken_apart(*loop.while_condition()) &&
         std::all_of(users.begin(), users.end(),
                     [](const Instruction* user) { return user->is(Opcode::GetTupleElement); });
}

Instruction* drop_elements(ComputationEditor& edit, Instruction* loop, const std::vector<bool>& keep) {
  std::vector<int64_t> position(keep.size(), -1);
  std::vector<Instruction*> initial;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    position[i] = static_cast<int64_t>(initial.size());
    initial.push_back(edit.element(loop->operand(0), static_cast<int64_t>(i)));
  }
  Instruction* state = edit.tuple(std::move(initial));
  Computation* body = loop->while_body();
  // The body's readers of dropped elements die with the root's operands: the root first.
  Instruction* root = body->root();
  std::vector<Instruction*> results;
  for (size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) results.push_back(root->operand(static_cast<int64_t>(i)));
  Instruction* new_root = body->add_tuple(std::move(results));
  new_root->loc = root->loc;
  body->set_root(new_root);
  body->remove_dead();
  loop->while_condition()->remove_dead();
  reshape_parameter(*body, state->shape, position);
  reshape_parameter(*loop->while_condition(), state->shape, position);
  Instruction* made = loop_like(edit, *loop, state);
  for (Instruction* user : edit.users(loop)) {
    const int64_t to = position[static_cast<size_t>(user->index)];
    edit.replace(user, edit.element(made, to));
  }
  return made;
}

Instruction* add_invariants(ComputationEditor& edit, Instruction* loop,
                            const std::vector<Instruction*>& values) {
  const int64_t own = static_cast<int64_t>(loop->shape.elements.size());
  std::vector<Instruction*> initial;
  for (int64_t i = 0; i < own; ++i) initial.push_back(edit.element(loop->operand(0), i));
  initial.insert(initial.end(), values.begin(), values.end());
  Instruction* state = edit.tuple(std::move(initial));
  Computation* body = loop->while_body();
  body->parameters()[0]->shape = state->shape;
  loop->while_condition()->parameters()[0]->shape = state->shape;
  Instruction* root = body->root();
  std::vector<Instruction*> results = root->operands;
  for (size_t k = 0; k < values.size(); ++k)
    results.push_back(body->add_get(body->parameters()[0], own + static_cast<int64_t>(k)));
  Instruction* new_root = body->add_tuple(std::move(results));
  new_root->loc = root->loc;
  body->set_root(new_root);
  Instruction* made = loop_like(edit, *loop, state);
  for (Instruction* user : edit.users(loop)) edit.replace(user, edit.element(made, user->index));
  return made;
}

}  // namespace ncc::hlo_passes
