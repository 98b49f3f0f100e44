// A reshape that keeps the gathered dimension whole moves before the all-gather, to the smaller piece:
//   reshape(all-gather(x, d)) -> all-gather(reshape(x), d')
// when dimension d' of the result has d's size and as many elements per index as d has. The gather's only
// use. Source: spec/hlo-front-half.md §4.19 (97).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The dimension of `to` that is dimension `d` of `from`.
std::optional<int64_t> same_dimension(const Dims& from, size_t d, const Dims& to) {
  int64_t before = 1, seen = 1;
  for (size_t i = 0; i < d; ++i) before *= from[i];
  for (size_t i = 0; i < to.size(); ++i) {
    if (seen == before && to[i] == from[d]) return static_cast<int64_t>(i);
    seen *= to[i];
  }
  return std::nullopt;
}

void flip(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Reshape) || !is_plain_array(inst) || edit.has_control_edge(inst)) return;
  Instruction* gather = inst->operand(0);
  if (!is_simple_collective(edit, gather, Opcode::AllGather) || !edit.has_one_use(gather) ||
      inst->shape.num_elements() == 0)
    return;
  const auto d = static_cast<size_t>(gather->dimensions[0]);
  const int64_t piece = gather->operand_shape(0).dims[d];
  if (gather->shape.dims[d] == piece) return;
  const auto moved = same_dimension(gather->shape.dims, d, inst->shape.dims);
  if (!moved) return;
  Dims dims = inst->shape.dims;
  dims[static_cast<size_t>(*moved)] = piece;
  Instruction* gathered =
      collective_on(edit, gather, edit.reshape(gather->operand(0), std::move(dims)), inst->shape);
  gathered->dimensions = {*moved};
  Instruction* collectives[] = {gather};
  replace_user(edit, inst, gathered, collectives);
}

}  // namespace

Status flip_all_gather_reshape(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    flip(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
