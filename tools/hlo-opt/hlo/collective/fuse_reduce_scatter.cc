// Equal reduce-scatters that are joined become one on the joined operands:
//   concatenate(reduce-scatter(a, d), reduce-scatter(b, d), …) along c -> reduce-scatter(concatenate(a, b,
//   …), d)
// with c other than d, equal groups and reductions, no other use. Source: spec/hlo-front-half.md §4.19 (28).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_like(const Instruction& a, const Instruction& b) {
  if (!same_groups(a, b) || a.dimensions != b.dimensions || a.shape.dtype != b.shape.dtype) return false;
  if (a.body() == b.body()) return true;
  const auto op = binary_body(*a.body());
  return op && op == binary_body(*b.body()) && a.body()->root()->shape.dtype == b.body()->root()->shape.dtype;
}

void fuse(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Concatenate) || inst->num_operands() < 2 || !is_plain_array(inst) ||
      edit.has_control_edge(inst))
    return;
  const std::vector<Instruction*> pieces = inst->operands;
  std::vector<Instruction*> operands;
  for (Instruction* piece : pieces) {
    if (!is_simple_collective(edit, piece, Opcode::ReduceScatter) || !edit.has_one_use(piece) ||
        piece->dimensions == inst->dimensions || !is_like(*pieces[0], *piece))
      return;
    operands.push_back(piece->operand(0));
  }
  Instruction* joined = edit.concatenate(std::move(operands), inst->dimensions[0]);
  replace_user(edit, inst, collective_on(edit, pieces[0], joined, inst->shape), pieces);
}

}  // namespace

Status fuse_reduce_scatter(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    fuse(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
