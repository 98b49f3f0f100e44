// All-reduces that a loop adds up are done once behind it (reduction_motion.h).
// Source: spec/hlo-front-half.md §2.2, §4.19 (101).
#include "tools/hlo-opt/hlo/collective/reduction_motion.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status while_loop_all_reduce_code_motion(hlo::Module& module, PassContext& context) {
  return move_reductions(module, context.changes, Opcode::AllReduce);
}

}  // namespace ncc::hlo_passes
