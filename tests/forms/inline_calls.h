#pragma once
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Puts the body of every called function in the place of its call. Regions are copied per call, so that each
/// has one user.
void inline_calls(Module* module);

}  // namespace ncc::hlo
