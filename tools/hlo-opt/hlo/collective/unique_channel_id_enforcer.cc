// A channel id belongs to one synchronous collective: repeated ones become fresh ids. Send, recv and
// asynchronous pairs share their ids on purpose and stay as they are. Source: spec/hlo-front-half.md §4.19
// (82).
#include <unordered_set>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

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

}  // namespace ncc::hlo_passes
