// Clears the input-output alias table. Source: spec/hlo-front-half.md §4.17 (44).
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status remove_aliases(hlo::Module& module, PassContext& context) {
  context.changes += static_cast<int64_t>(module.aliases.size());
  module.aliases.clear();
  return Status::ok();
}

}  // namespace ncc::hlo_passes
