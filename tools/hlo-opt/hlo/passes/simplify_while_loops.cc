// While loops that do less than they say:
//   trip count 0                                   -> the initial state
//   trip count 1                                   -> the body, inlined
//   an element that the body hands on unchanged    -> users outside read the initial value
//   an element that neither condition, nor effects, nor users, nor needed elements depend on -> dropped
// Source: spec/hlo-front-half.md §2.3 (stock WhileLoopSimplifier).
#include <algorithm>

#include "ir-formats/hlo/instruction_table.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool inline_short_loop(ComputationEditor& edit, Instruction* loop) {
  if (edit.has_control_edge(loop)) return false;
  const auto trips = trip_count(*loop, 1);
  if (!trips || *trips > 1) return false;
  Instruction* result = loop->operand(0);
  if (*trips == 1) result = edit.inline_computation(*loop->while_body(), {result});
  edit.replace(loop, result);
  edit.erase(loop);
  return true;
}

void read_initial_values(ComputationEditor& edit, Instruction* loop) {
  for (Instruction* user : edit.users(loop)) {
    if (!user->is(Opcode::GetTupleElement) || edit.is_dead(user)) continue;
    Instruction* initial = is_invariant(*loop, user->index) ? initial_element(*loop, user->index) : nullptr;
    if (initial && compatible(initial->shape, user->shape)) edit.replace(user, initial);
  }
}

// Elements that a computation reads to make the values in `work`, and for its effects.
class Readers {
 public:
  explicit Readers(const Computation& computation) : seen_(computation) {
    for (const auto& inst : computation.instructions())
      if (!inst->is(Opcode::Parameter) && (inst->has_side_effect() || !inst->control_predecessors.empty()))
        work_.push_back(inst.get());
  }

  void need(const Instruction* value) { work_.push_back(value); }

  // Elements newly found to be read since the last call.
  std::vector<int64_t> take() {
    std::vector<int64_t> elements;
    while (!work_.empty()) {
      const Instruction* inst = work_.back();
      work_.pop_back();
      if (seen_[inst]) continue;
      seen_[inst] = 1;
      if (inst->is(Opcode::GetTupleElement) && inst->operand(0)->is(Opcode::Parameter)) {
        elements.push_back(inst->index);
        continue;
      }
      work_.insert(work_.end(), inst->operands.begin(), inst->operands.end());
      work_.insert(work_.end(), inst->control_predecessors.begin(), inst->control_predecessors.end());
    }
    return elements;
  }

 private:
  hlo::InstructionTable<char> seen_;
  std::vector<const Instruction*> work_;
};

std::vector<bool> needed_elements(ComputationEditor& edit, const Instruction& loop) {
  std::vector<bool> needed(loop.shape.elements.size(), false);
  std::vector<int64_t> work;
  const auto mark = [&](int64_t i) {
    if (needed[static_cast<size_t>(i)]) return;
    needed[static_cast<size_t>(i)] = true;
    work.push_back(i);
  };
  for (const Instruction* user : edit.users(&loop)) mark(user->index);
  Readers condition(*loop.while_condition());
  condition.need(loop.while_condition()->root());
  for (int64_t i : condition.take()) mark(i);
  Readers body(*loop.while_body());
  for (int64_t i : body.take()) mark(i);
  while (!work.empty()) {
    const int64_t i = work.back();
    work.pop_back();
    body.need(loop.while_body()->root()->operand(i));
    for (int64_t read : body.take()) mark(read);
  }
  return needed;
}

}  // namespace

Status simplify_while_loops(hlo::Module& module, PassContext& context) {
  const auto callers = caller_counts(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::While) || edit.is_dead(inst)) continue;
      edit.set_location(inst->loc);
      if (inline_short_loop(edit, inst)) continue;
      if (!owns_its_state(edit, *inst, callers)) continue;
      read_initial_values(edit, inst);
      const std::vector<bool> needed = needed_elements(edit, *inst);
      const bool all = std::all_of(needed.begin(), needed.end(), [](bool is_needed) { return is_needed; });
      const bool none = std::none_of(needed.begin(), needed.end(), [](bool is_needed) { return is_needed; });
      if (all || none) continue;
      drop_elements(edit, inst, needed);
      if (edit.use_count(inst) == 0) edit.erase(inst);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
