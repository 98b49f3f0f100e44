// Moves less: a dynamic-slice before the movement instead of behind it.
//   dynamic-slice(transpose(x), i…) -> transpose(dynamic-slice(x, i… in x's order))
//   transpose(dynamic-slice(x, i…)) stays: the small piece is transposed already.
// Source: spec/hlo-front-half.md §4.10 (55).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* slice_first(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::DynamicSlice) || !inst->operand(0)->is(Opcode::Transpose) || !is_plain_array(inst))
    return nullptr;
  Instruction* transpose = inst->operand(0);
  if (!edit.has_one_use(transpose)) return nullptr;
  const Dims position = inverse(transpose->dimensions);  // of each source dimension in the transpose
  std::vector<Instruction*> starts;
  Dims sizes;
  for (int64_t at : position) {
    starts.push_back(inst->operand(1 + at));
    sizes.push_back(inst->shape.dims[static_cast<size_t>(at)]);
  }
  return edit.transpose(edit.dynamic_slice(transpose->operand(0), std::move(starts), std::move(sizes)),
                        transpose->dimensions);
}

}  // namespace

Status dynamic_slice_transpose(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, slice_first);
}

}  // namespace ncc::hlo_passes
