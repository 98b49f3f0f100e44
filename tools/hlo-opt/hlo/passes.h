// The pass functions, declared from the table. Each is defined in a <function>.cc of its own.
#pragma once
#include "tools/hlo-opt/hlo/pass.h"

namespace ncc::hlo_passes {

#define HLO_PASS(name, function, stage, rounding, summary) \
  Status function(hlo::Module& module, PassContext& context);
#include "tools/hlo-opt/hlo/passes.def"

}  // namespace ncc::hlo_passes
