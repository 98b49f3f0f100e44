// Independent collectives of one kind become one with several operands.
#pragma once
#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// In every computation. Kind: opcode, groups, dimension, element type, reduction, use of channel ids,
/// sharding.
Status combine_collectives(hlo::Module& module, int64_t& changes, Opcode opcode);

}  // namespace ncc::hlo_passes
