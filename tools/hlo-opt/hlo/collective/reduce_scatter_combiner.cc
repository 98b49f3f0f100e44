// Independent reduce-scatters of one kind become one with several operands (combine_collectives.h).
// Source: spec/hlo-front-half.md §4.19 (78).
#include "tools/hlo-opt/hlo/collective/combine_collectives.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status reduce_scatter_combiner(hlo::Module& module, PassContext& context) {
  return combine_collectives(module, context.changes, Opcode::ReduceScatter);
}

}  // namespace ncc::hlo_passes
