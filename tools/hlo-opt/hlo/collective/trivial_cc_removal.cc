// A synchronous collective over groups of one device -> its operand, converted where the result type differs.
// Source: spec/hlo-front-half.md §4.19 (32).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool has_groups_of_one(const Instruction& inst) {
  const hlo::Module& module = *inst.parent->module();
  const auto& groups = inst.attrs().replica_groups;
  if (groups.empty()) return module.replica_count * module.num_partitions == 1;
  return std::all_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() == 1; });
}

// The operand of a collective that moves nothing, else nullptr.
Instruction* own_operand(const Instruction& inst) {
  if (!is_synchronous(inst) || inst.num_operands() != 1 || !is_plain_array(&inst) ||
      inst.operand_shape(0).dims != inst.shape.dims)
    return nullptr;
  if (!inst.is(Opcode::CollectivePermute)) return has_groups_of_one(inst) ? inst.operand(0) : nullptr;
  const hlo::Module& module = *inst.parent->module();
  const auto& pairs = inst.attrs().source_target_pairs;
  const bool to_self =
      std::find(pairs.begin(), pairs.end(), std::pair<int64_t, int64_t>{0, 0}) != pairs.end();
  return to_self && module.replica_count * module.num_partitions == 1 ? inst.operand(0) : nullptr;
}

}  // namespace

Status trivial_cc_removal(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    Instruction* operand = own_operand(*inst);
    if (!operand || edit.has_control_edge(inst)) return Status::ok();
    edit.replace(inst, edit.convert(operand, inst->shape.dtype));
    edit.erase(inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
