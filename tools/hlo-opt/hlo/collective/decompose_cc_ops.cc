// An all-reduce, all-gather or reduce-scatter of several operands -> one of each operand, and a tuple of
// them. All but the first get channel ids of their own. Source: spec/hlo-front-half.md §4.19 (26).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

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

}  // namespace ncc::hlo_passes
