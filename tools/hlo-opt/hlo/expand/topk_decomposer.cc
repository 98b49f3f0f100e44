// topk(x, k) -> sort of (x, iota) along the last dimension, and the first k of both. The comparator is the
// total order of the values, descending for the largest; the sort is stable, so that ties keep the lower
// index first. Source: spec/stablehlo-text.md §2.9, spec/hlo-front-half.md §4.2.
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// (a, b, i, j) -> a before b.
Computation* comparator(hlo::Module& module, Dtype dtype, Dtype index_type, bool descending) {
  Computation* body = module.add_computation(descending ? "descending" : "ascending");
  Instruction* a = body->add_parameter(0, Shape::array(dtype));
  Instruction* b = body->add_parameter(1, Shape::array(dtype));
  body->add_parameter(2, Shape::array(index_type));
  body->add_parameter(3, Shape::array(index_type));
  Instruction* before = body->add(Opcode::Compare, Shape::array(Dtype::Pred), {a, b});
  before->direction = descending ? hlo::CompareDirection::GT : hlo::CompareDirection::LT;
  if (is_float(dtype)) before->compare_type = hlo::CompareType::TotalOrder;
  body->set_root(before);
  return body;
}

}  // namespace

Status topk_decomposer(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::TopK) || !inst->shape.is_tuple() || inst->shape.elements.size() != 2 ||
        inst->operand_shape(0).is_dynamic() || edit.is_pinned(inst))
      return Status::ok();
    Instruction* values = inst->operand(0);
    const Dims& dims = values->shape.dims;
    const int64_t last = values->shape.rank() - 1;
    const Dtype index_type = inst->shape.elements[1].dtype;
    Instruction* indices = edit.iota(index_type, dims, last);
    Instruction* sorted =
        edit.add(Opcode::Sort, Shape::make_tuple({values->shape, indices->shape}), {values, indices});
    sorted->called = {comparator(module, values->shape.dtype, index_type, inst->attrs().largest)};
    sorted->dimensions = {last};
    sorted->mutable_attrs().is_stable = true;
    std::vector<Instruction*> results;
    for (int64_t i = 0; i < 2; ++i)
      results.push_back(
          edit.slice(edit.element(sorted, i), Dims(dims.size(), 0), inst->shape.elements[0].dims));
    edit.replace(inst, edit.tuple(std::move(results)));
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
