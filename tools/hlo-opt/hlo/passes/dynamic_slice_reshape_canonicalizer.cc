// A dynamic-slice of a reshape that only adds or drops sizes of 1 slices before it:
//   dynamic-slice(reshape(x), i…) -> reshape(dynamic-slice(x, i… of x's dimensions))
// so that slices of one value meet. Indices of added sizes of 1 clamp to 0 and go; dropped ones get 0.
// Source: spec/hlo-front-half.md §4.10 (110).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* slice_first(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::DynamicSlice) || !inst->operand(0)->is(Opcode::Reshape) || !is_plain_array(inst))
    return nullptr;
  Instruction* reshape = inst->operand(0);
  Instruction* x = reshape->operand(0);
  const Dims from = wide_dimensions(x->shape), to = wide_dimensions(reshape->shape);
  if (from.size() != to.size() || from.empty()) return nullptr;
  for (size_t k = 0; k < from.size(); ++k)
    if (x->shape.dims[static_cast<size_t>(from[k])] != reshape->shape.dims[static_cast<size_t>(to[k])])
      return nullptr;
  const Dtype index_type = inst->operand_shape(1).dtype;
  Instruction* zero = edit.constant(Literal::scalar_int(index_type, 0));
  std::vector<Instruction*> starts(x->shape.dims.size(), zero);
  Dims sizes(x->shape.dims.size(), 1);
  for (size_t k = 0; k < from.size(); ++k) {
    starts[static_cast<size_t>(from[k])] = inst->operand(1 + to[k]);
    sizes[static_cast<size_t>(from[k])] = inst->shape.dims[static_cast<size_t>(to[k])];
  }
  return edit.reshape(edit.dynamic_slice(x, std::move(starts), std::move(sizes)), inst->shape.dims);
}

}  // namespace

Status dynamic_slice_reshape_canonicalizer(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, slice_first);
}

}  // namespace ncc::hlo_passes
