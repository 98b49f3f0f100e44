// A transpose moves behind the reduce-scatter, to the smaller piece:
//   reduce-scatter(transpose(x), d) -> transpose(reduce-scatter(x, the dimension that becomes d))
// Source: spec/hlo-front-half.md §4.19 (104).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

void flip(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::ReduceScatter)) return;
  Instruction* transpose = inst->operand(0);
  if (!transpose->is(Opcode::Transpose) || !edit.has_one_use(transpose)) return;
  const Dims order = transpose->dimensions;
  Instruction* x = transpose->operand(0);
  Dims dims(order.size());
  for (size_t i = 0; i < order.size(); ++i) dims[static_cast<size_t>(order[i])] = inst->shape.dims[i];
  Instruction* scattered = collective_on(edit, inst, x, Shape::array(inst->shape.dtype, std::move(dims)));
  scattered->dimensions = {order[static_cast<size_t>(inst->dimensions[0])]};
  replace_user(edit, inst, edit.transpose(scattered, order), {});
}

}  // namespace

Status flip_reduce_scatter_transpose(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    flip(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
