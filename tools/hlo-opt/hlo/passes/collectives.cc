// Passes over synchronous collectives (spec/hlo-front-half.md §4.19).
//   trivial-cc-removal (32)   groups of one device: the operand, converted where the result type differs
//   decompose-cc-ops (26)     all-reduce, all-gather, reduce-scatter of several operands -> one each, and a
//   tuple neuron_unique_channel_id_enforcer (82)   a channel id belongs to one collective: repeated ones get
//   fresh ids neuron_all_gather_duplicate_remover (106)   equal all-gathers of one value become one
// Send, recv and asynchronous pairs share their ids on purpose and stay as they are.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

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

Status decompose_cc_ops(hlo::Module& module, PassContext& context) {
  int64_t next_channel = largest_channel(module) + 1;
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    const bool is_variadic =
        (inst->is(Opcode::AllReduce) || inst->is(Opcode::AllGather) || inst->is(Opcode::ReduceScatter)) &&
        inst->shape.is_tuple();
    if (!is_variadic || edit.has_control_edge(inst) || inst->shape.elements.size() != inst->operands.size())
      return Status::ok();
    std::vector<Instruction*> results;
    for (size_t i = 0; i < inst->operands.size(); ++i) {
      Instruction* one = edit.clone(inst, {inst->operands[i]});
      one->shape = inst->shape.elements[i];
      if (i > 0 && inst->attrs().channel_id > 0) one->mutable_attrs().channel_id = next_channel++;
      results.push_back(one);
    }
    edit.replace(inst, edit.tuple(std::move(results)));
    edit.erase(inst);
    return Status::ok();
  });
}

Status unique_channel_id_enforcer(hlo::Module& module, PassContext& context) {
  int64_t next_channel = largest_channel(module) + 1;
  std::unordered_set<int64_t> taken;
  for (const Computation* computation : module.post_order()) {
    for (const auto& inst : computation->instructions()) {
      const int64_t channel = inst->attrs().channel_id;
      if (channel <= 0 || !is_synchronous(*inst) || taken.insert(channel).second) continue;
      inst->mutable_attrs().channel_id = next_channel++;
      ++context.changes;
    }
  }
  return Status::ok();
}

Status all_gather_duplicate_remover(hlo::Module& module, PassContext& context) {
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    std::unordered_map<const Instruction*, std::vector<Instruction*>> by_operand;
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::AllGather) || inst->num_operands() != 1 || edit.has_control_edge(inst)) continue;
      std::vector<Instruction*>& earlier = by_operand[inst->operand(0)];
      const auto equal = std::find_if(earlier.begin(), earlier.end(), [&](const Instruction* other) {
        const int64_t channel = inst->attrs().channel_id;
        if ((channel > 0) != (other->attrs().channel_id > 0)) return false;
        // The id aside, which is the collective's own.
        hlo::Attributes own = inst->attrs();
        own.channel_id = other->attrs().channel_id;
        return own == other->attrs() && inst->dimensions == other->dimensions &&
               compatible(inst->shape, other->shape);
      });
      if (equal == earlier.end()) {
        earlier.push_back(inst);
        continue;
      }
      edit.replace(inst, *equal);
      edit.erase(inst);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
