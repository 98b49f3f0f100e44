// A conditional without effects computes both branches and selects, leaf by leaf:
//   conditional(p, a, b), f, g -> select(p, f(a), g(b))
//   conditional(i, a, b, c)    -> select(i == 0, f(a), select(i == 1, g(b), h(c))): out of range is the last
// Branches with loops stay (the untaken one might not end), and so do collectives, results that are no
// arrays, and branches over the size limit, where computing all of them costs more than a jump. Source:
// spec/hlo-front-half.md §4.16 (22).
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMaxBranch = 1000, kMaxBranches = 16;

bool is_selectable(const Shape& shape) {
  if (shape.is_tuple()) return std::all_of(shape.elements.begin(), shape.elements.end(), is_selectable);
  return shape.is_array() && !shape.is_dynamic() && !shape.quantization;
}

bool is_straight_line(const Computation& branch) {
  return branch.size() <= kMaxBranch &&
         std::all_of(branch.instructions().begin(), branch.instructions().end(), [](const auto& inst) {
           switch (inst->opcode) {
             case Opcode::While:
             case Opcode::Conditional:
             case Opcode::Call:
             case Opcode::Fusion:
             case Opcode::CustomCall:
               return false;
             default:
               return inst->info().kind != hlo::OpKind::Collective &&
                      inst->info().kind != hlo::OpKind::Async && inst->info().kind != hlo::OpKind::Token &&
                      inst->control_predecessors.empty() &&
                      (inst->is(Opcode::Parameter) || !inst->has_side_effect());
           }
         });
}

Instruction* select_leaves(ComputationEditor& edit, Instruction* predicate, Instruction* a, Instruction* b) {
  if (a->shape.is_tuple()) {
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < a->shape.elements.size(); ++i) {
      const int64_t index = static_cast<int64_t>(i);
      elements.push_back(select_leaves(edit, predicate, edit.element(a, index), edit.element(b, index)));
    }
    return edit.tuple(std::move(elements));
  }
  return edit.apply(Opcode::Select, {edit.broadcast_scalar(predicate, a->shape.dims), a, b});
}

Instruction* to_select(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Conditional) || edit.is_pinned(inst) || !is_selectable(inst->shape) ||
      static_cast<int64_t>(inst->called.size()) > kMaxBranches ||
      !std::all_of(inst->called.begin(), inst->called.end(),
                   [](const Computation* branch) { return is_straight_line(*branch); }))
    return nullptr;
  std::vector<Instruction*> values;
  for (size_t i = 0; i < inst->called.size(); ++i)
    values.push_back(edit.inline_computation(*inst->called[i], {inst->operand(static_cast<int64_t>(i) + 1)}));
  Instruction* index = inst->operand(0);
  if (is_pred(index)) return select_leaves(edit, index, values[0], values[1]);
  Instruction* value = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    Instruction* number = edit.constant(Literal::scalar_int(index->shape.dtype, static_cast<int64_t>(i)));
    Instruction* is_this = edit.compare(hlo::CompareDirection::EQ, index, number);
    value = select_leaves(edit, is_this, values[i], value);
  }
  return value;
}

}  // namespace

Status hilo_conditional_to_select(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, to_select);
}

}  // namespace ncc::hlo_passes
