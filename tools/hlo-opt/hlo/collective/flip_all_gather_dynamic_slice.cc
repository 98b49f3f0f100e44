// What is cut away is not gathered:
//   slice(all-gather(x, d))         -> all-gather(slice(x), d)           the whole of dimension d
//   dynamic-slice(all-gather(x, d)) -> all-gather(dynamic-slice(x), d)   and starts that agree within each
//   group
// The gather's only use. Source: spec/hlo-front-half.md §4.19 (92).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* sliced_piece(ComputationEditor& edit, const Instruction* inst, const Instruction* gather,
                          size_t d) {
  Instruction* x = gather->operand(0);
  const int64_t piece = x->shape.dims[d];
  if (inst->is(Opcode::Slice)) {
    const hlo::Attributes& attrs = inst->attrs();
    if (attrs.slice_strides[d] != 1) return nullptr;
    Dims limits = attrs.slice_limits;
    limits[d] = piece;
    return edit.slice(x, attrs.slice_starts, std::move(limits), attrs.slice_strides);
  }
  const auto groups = process_groups(*gather);
  std::vector<Instruction*> starts(inst->operands.begin() + 1, inst->operands.end());
  std::vector<Instruction*> needed = starts;
  needed.erase(needed.begin() + static_cast<int64_t>(d));
  if (!groups || !are_uniform(needed, *gather->parent->module(), *groups)) return nullptr;
  // The start of the whole dimension clamps to 0 on either side of the gather.
  Dims sizes = inst->shape.dims;
  sizes[d] = piece;
  return edit.dynamic_slice(x, std::move(starts), std::move(sizes));
}

void flip(ComputationEditor& edit, Instruction* inst) {
  if ((!inst->is(Opcode::Slice) && !inst->is(Opcode::DynamicSlice)) || !is_plain_array(inst) ||
      edit.has_control_edge(inst))
    return;
  Instruction* gather = inst->operand(0);
  if (!is_simple_collective(edit, gather, Opcode::AllGather) || !edit.has_one_use(gather)) return;
  const auto d = static_cast<size_t>(gather->dimensions[0]);
  if (inst->shape.dims[d] != gather->shape.dims[d]) return;
  Instruction* piece = sliced_piece(edit, inst, gather, d);
  if (!piece) return;
  Instruction* collectives[] = {gather};
  replace_user(edit, inst, collective_on(edit, gather, piece, inst->shape), collectives);
}

}  // namespace

Status flip_all_gather_dynamic_slice(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    flip(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
