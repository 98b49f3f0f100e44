// A loop of known trip count -> its body called once per iteration, within the limits of unroll.h.
// Source: spec/hlo-front-half.md §4.16 (25).
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/unroll.h"

namespace ncc::hlo_passes {

Status unroll_while_loop(hlo::Module& module, PassContext& context) {
  return unroll_loops(module, context, Iteration::Called);
}

}  // namespace ncc::hlo_passes
