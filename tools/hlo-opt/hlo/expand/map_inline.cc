// map -> the ops of its body on whole arrays, where the body is elementwise work on scalars.
#include "tools/hlo-opt/hlo/expand/array_body.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status map_inline(hlo::Module& module, PassContext& context) {
  return rewrite_each(
      module, context.changes, [](ComputationEditor& edit, Instruction* inst) -> Instruction* {
        if (!inst->is(Opcode::Map) || !is_plain_array(inst) || inst->operands.empty() ||
            !is_elementwise_body(*inst->body()) || inst->body()->root()->shape.is_tuple())
          return nullptr;
        return edit.convert(applied_body(edit, *inst->body(), inst->operands), inst->shape.dtype);
      });
}

}  // namespace ncc::hlo_passes
