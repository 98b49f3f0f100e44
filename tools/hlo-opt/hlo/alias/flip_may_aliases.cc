// may-alias -> must-alias. Source: spec/hlo-front-half.md §4.17 (48).
#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status flip_may_aliases(hlo::Module& module, PassContext& context) {
  set_alias_kind(module, AliasKind::Must, context);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
