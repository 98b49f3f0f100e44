// dead_code_elim: removes what no output needs.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Instructions without a use, then tensors and axes that nothing names; ids become dense again.
Status dead_code_elim(penguin::Module& module);

}  // namespace ncc::hlo_opt
