// AwsNeuronTopK, TopK; config = k, or k from the shape -> topk, its indices converted. Source:
// spec/hlo-front-half.md §4.2 (8).
#include "tools/hlo-opt/hlo/expand/custom_call_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* open_topk(ComputationEditor& edit, Instruction* inst) {
  if ((!calls(*inst, "AwsNeuronTopK") && !calls(*inst, "TopK")) || inst->num_operands() != 1 ||
      !inst->shape.is_tuple() || inst->shape.elements.size() != 2 || inst->shape.is_dynamic())
    return nullptr;
  Instruction* x = inst->operand(0);
  const Shape &values = inst->shape.elements[0], &indices = inst->shape.elements[1];
  if (!is_plain_array(x) || x->shape.rank() == 0 || !is_float(x->shape.dtype) ||
      values.dtype != x->shape.dtype || values.dims.size() != x->shape.dims.size() ||
      indices.dims != values.dims || !is_integer(indices.dtype))
    return nullptr;
  const int64_t k = values.dims.back();
  Dims expected = x->shape.dims;
  expected.back() = k;
  if (values.dims != expected || k > x->shape.dims.back() ||
      (!inst->attrs().backend_config.empty() && config_number(*inst, INT32_MAX) != k))
    return nullptr;
  Instruction* top =
      edit.add(Opcode::TopK, Shape::make_tuple({values, Shape::array(Dtype::S32, indices.dims)}), {x});
  top->mutable_attrs().k = k;
  return edit.tuple({edit.element(top, 0), edit.convert(edit.element(top, 1), indices.dtype)});
}

}  // namespace

Status legalize_topk(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, open_topk);
}

}  // namespace ncc::hlo_passes
