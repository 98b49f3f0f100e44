// Equal all-gathers of one value, channel ids aside, become the first of them. Source: spec/hlo-front-half.md
// §4.19 (106).
#include <algorithm>
#include <unordered_map>

#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

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
