// Loops whose trip count is known become straight-line code.
#pragma once
#include "tools/hlo-opt/hlo/pass.h"

namespace ncc::hlo_passes {

/// How an iteration stands in the unrolled program.
enum class Iteration : uint8_t { Inlined, Called };

/// Limits: max_unrolled_trips, and trips times instructions of the body (nested callees counted once) at most
/// max_unrolled_size. Channel ids of every iteration but the first are fresh, pairs stay pairs.
Status unroll_loops(hlo::Module& module, PassContext& context, Iteration iteration);

}  // namespace ncc::hlo_passes
