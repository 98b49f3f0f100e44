// A permute of everybody to itself -> its operand; one without pairs -> zeros. Source: spec/hlo-front-half.md
// §4.19 (89).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/collective/permute_sources.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

void delete_useless(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  const auto sources = permute_sources(*inst);
  if (!sources) return;
  bool to_self = true, from_nobody = true;
  for (size_t i = 0; i < sources->size(); ++i) {
    to_self &= (*sources)[i] == static_cast<int64_t>(i);
    from_nobody &= (*sources)[i] < 0;
  }
  if (to_self) replace_user(edit, inst, inst->operand(0), {});
  if (from_nobody) replace_user(edit, inst, edit.splat(inst->shape, 0), {});
}

}  // namespace

Status delete_permute(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    delete_useless(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
