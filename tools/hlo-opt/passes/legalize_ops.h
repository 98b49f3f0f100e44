// legalize_ops: rewrites contractions and reductions that have no axis for the partitions.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// A Contract without contracted axes becomes a Map, one without free axes a Map and a Reduce. A Reduce whose
/// result has no axis wide enough for the partitions is done in two steps: first with one folded axis (or a
/// factor of it) kept, then over that axis. Axes of extent 1 disappear. Leaves every Inst with axes of extent
/// > 1 only.
Status legalize_ops(penguin::Module& module);

}  // namespace ncc::hlo_opt
