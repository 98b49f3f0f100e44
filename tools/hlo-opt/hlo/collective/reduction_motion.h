// A reduction over processes that a loop only adds up is done once, behind it.
#pragma once
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// s = s0; loop { s = s + collective(x) }  ->  t = 0; loop { t = t + x }; s0 + collective(t)
/// for all-reduce or reduce-scatter (t has the whole shape of x). Sums of the op add; s is read by nothing
/// else in the loop; the collective's value goes into the sum alone. Floats are added in another order.
Status move_reductions(hlo::Module& module, int64_t& changes, Opcode opcode);

}  // namespace ncc::hlo_passes
