// Structural edits that several passes share.
#pragma once
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

struct Removed {
  int64_t instructions = 0, tensors = 0, axes = 0;
};

/// Tensor level: drops instructions whose result no output needs, then tensors and axes that nothing names;
/// ids become dense again, order and names stay. Inputs and outputs are kept.
Removed remove_dead(Module& module);

}  // namespace ncc::penguin
