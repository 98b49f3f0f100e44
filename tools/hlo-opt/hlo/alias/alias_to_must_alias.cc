// may-alias -> must-alias, late: after the last pass that adds entries. Source: spec/hlo-front-half.md §4.17
// (72).
#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status alias_to_must_alias(hlo::Module& module, PassContext& context) {
  set_alias_kind(module, AliasKind::Must, context);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
