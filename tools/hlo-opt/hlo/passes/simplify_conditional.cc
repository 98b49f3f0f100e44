// Conditionals whose outcome is known:
//   constant predicate or index             -> the branch, inlined (an index out of range takes the last one)
//   all branches equal on the same operands -> the branch, inlined
// Source: spec/hlo-front-half.md §4.16; XLA's HloConditionalSimplifier.
#include <algorithm>

#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The branch that a constant selects; pred true is branch 0.
std::optional<int64_t> known_branch(const Instruction& conditional) {
  const Instruction* index = conditional.operand(0);
  if (!index->is(Opcode::Constant) || !index->shape.is_scalar()) return std::nullopt;
  const int64_t value = index->literal.as_int64(0);
  const int64_t branches = static_cast<int64_t>(conditional.called.size());
  if (is_pred(index)) return value != 0 ? 0 : 1;
  return value < 0 || value >= branches ? branches - 1 : value;
}

bool have_equal_operands(const Instruction& conditional) {
  return std::all_of(conditional.operands.begin() + 1, conditional.operands.end(),
                     [&](const Instruction* operand) { return operand == conditional.operand(1); });
}

// The only branch that matters, or -1.
int64_t branch_of(const Instruction& conditional,
                  const std::unordered_map<const Computation*, Computation*>& canonical) {
  if (const auto known = known_branch(conditional)) return *known;
  if (!have_equal_operands(conditional)) return -1;
  const Computation* first = canonical.at(conditional.called[0]);
  const bool all_equal =
      std::all_of(conditional.called.begin(), conditional.called.end(),
                  [&](const Computation* branch) { return canonical.at(branch) == first; });
  return all_equal ? 0 : -1;
}

}  // namespace

Status simplify_conditional(hlo::Module& module, PassContext& context) {
  const auto canonical = equal_computations(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::Conditional) || edit.is_dead(inst) || edit.has_control_edge(inst)) continue;
      const int64_t branch = branch_of(*inst, canonical);
      if (branch < 0) continue;
      edit.set_location(inst->loc);
      Instruction* value =
          edit.inline_computation(*inst->called[static_cast<size_t>(branch)], {inst->operand(1 + branch)});
      edit.replace(inst, value);
      edit.erase(inst);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
