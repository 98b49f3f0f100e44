// Reduce-scatters that a loop adds up are done once behind it (reduction_motion.h).
// Source: spec/hlo-front-half.md §2.2, §4.19 (103).
#include "tools/hlo-opt/hlo/collective/reduction_motion.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status move_reduce_scatter_while_loop(hlo::Module& module, PassContext& context) {
  return move_reductions(module, context.changes, Opcode::ReduceScatter);
}

}  // namespace ncc::hlo_passes
