// A permute of a permute -> one permute of the composed pairs. Source: spec/hlo-front-half.md §4.19 (94).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/collective/permute_sources.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

void compose(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  Instruction* inner = inst->operand(0);
  if (!is_simple_collective(edit, inner, Opcode::CollectivePermute) || !edit.has_one_use(inner) ||
      (inner->attrs().channel_id > 0) != (inst->attrs().channel_id > 0))
    return;
  const auto first = permute_sources(*inner), second = permute_sources(*inst);
  if (!first || !second) return;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t target = 0; target < second->size(); ++target) {
    const int64_t middle = (*second)[target];
    const int64_t source = middle < 0 ? -1 : (*first)[static_cast<size_t>(middle)];
    if (source >= 0) pairs.emplace_back(source, static_cast<int64_t>(target));
  }
  Instruction* both = collective_on(edit, inst, inner->operand(0), inst->shape);
  both->mutable_attrs().source_target_pairs = std::move(pairs);
  Instruction* collectives[] = {inner};
  replace_user(edit, inst, both, collectives);
}

}  // namespace

Status rewrite_collective_permute(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    compose(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
