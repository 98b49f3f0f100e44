// batch-norm-training of a bf16 array -> the same op in f32, its three results rounded to bf16. The
// statistics are then kept in f32 inside the op whatever computes it. Source: spec/hlo-front-half.md §4.6.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status batch_norm_training_upcast(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::BatchNormTraining) || inst->operand_shape(0).dtype != Dtype::BF16 ||
        edit.is_pinned(inst))
      return Status::ok();
    std::vector<Instruction*> operands;
    for (Instruction* operand : inst->operands) operands.push_back(edit.convert(operand, Dtype::F32));
    Instruction* wide = edit.clone(inst, std::move(operands));
    for (Shape& element : wide->shape.elements) element.dtype = Dtype::F32;
    std::vector<Instruction*> results;
    for (int64_t i = 0; i < 3; ++i)
      results.push_back(
          edit.convert(edit.element(wide, i), inst->shape.elements[static_cast<size_t>(i)].dtype));
    edit.replace(inst, edit.tuple(std::move(results)));
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
