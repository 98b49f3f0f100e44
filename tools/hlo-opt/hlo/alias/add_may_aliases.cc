// Each output without an alias may share memory with an unused parameter of equal shape and layout.
// Source: spec/hlo-front-half.md §4.17 (46).
#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status add_may_aliases(hlo::Module& module, PassContext& context) {
  pair_outputs(module, AliasKind::May, context);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
