// must-alias -> may-alias. Source: spec/hlo-front-half.md §4.17 (47).
#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status flip_must_aliases(hlo::Module& module, PassContext& context) {
  set_alias_kind(module, AliasKind::May, context);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
