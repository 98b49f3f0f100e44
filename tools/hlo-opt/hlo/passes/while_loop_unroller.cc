// A loop of known trip count -> its body inlined once per iteration, within the limits of unroll.h.
// Source: spec/hlo-front-half.md §4.16 (112).
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/unroll.h"

namespace ncc::hlo_passes {

Status while_loop_unroller(hlo::Module& module, PassContext& context) {
  return unroll_loops(module, context, Iteration::Inlined);
}

}  // namespace ncc::hlo_passes
