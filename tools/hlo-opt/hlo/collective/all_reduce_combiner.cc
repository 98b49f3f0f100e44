// Independent all-reduces of one kind become one with several operands (combine_collectives.h).
// Source: spec/hlo-front-half.md §4.19 (79).
#include "tools/hlo-opt/hlo/collective/combine_collectives.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status all_reduce_combiner(hlo::Module& module, PassContext& context) {
  return combine_collectives(module, context.changes, Opcode::AllReduce);
}

}  // namespace ncc::hlo_passes
