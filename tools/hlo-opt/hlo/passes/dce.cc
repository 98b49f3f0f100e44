// Dead code elimination: instructions that neither the root nor an effect needs, and computations that nobody
// calls. Parameters stay. Loops are taken to end. Source: spec/hlo-front-half.md §2.2 (3).
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status dce(hlo::Module& module, PassContext& context) {
  // Callers last: a call that is dead in its caller takes its callee with it at the end.
  for (hlo::Computation* computation : module.post_order()) context.changes += computation->remove_dead();
  context.changes += module.remove_unreachable();
  return Status::ok();
}

}  // namespace ncc::hlo_passes
