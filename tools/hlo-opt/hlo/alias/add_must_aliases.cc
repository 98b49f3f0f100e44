// Each output without an alias must share memory with an unused parameter of equal shape and layout.
// Source: spec/hlo-front-half.md §4.17 (45).
#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status add_must_aliases(hlo::Module& module, PassContext& context) {
  pair_outputs(module, AliasKind::Must, context);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
