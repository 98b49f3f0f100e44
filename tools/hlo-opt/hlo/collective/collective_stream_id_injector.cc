// A collective without a stream gets stream 0. Source: spec/hlo-front-half.md §4.19 (81).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/stream_id.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status collective_stream_id_injector(hlo::Module& module, PassContext& context) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!needs_stream(*inst) || inst->attrs().find(kStreamId)) continue;
      auto& attributes = inst->mutable_attrs().frontend_attributes;
      attributes.emplace_back(kStreamId, "0");
      std::sort(attributes.begin(), attributes.end());
      ++context.changes;
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
