// The sum of one integer over a group by exact integer adds:
//   all-reduce(x, add), one s32 or u32 element, groups of G -> y = all-gather([x, x]); y[0] + y[2] + … +
//   y[2G-2]
// Source: spec/hlo-front-half.md §4.15 (88).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kLargestGroup = 64;

void decompose(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::AllReduce) || inst->shape.num_elements() != 1 ||
      (inst->shape.dtype != Dtype::S32 && inst->shape.dtype != Dtype::U32) ||
      binary_body(*inst->body()) != Opcode::Add || inst->body()->root()->shape.dtype != inst->shape.dtype)
    return;
  const auto groups = process_groups(*inst);
  const auto members = groups ? group_size(*groups) : std::nullopt;
  // The size of the gathered value is that of the groups as written.
  if (!members || *members < 2 || *members > kLargestGroup || inst->attrs().replica_groups.empty() ||
      static_cast<int64_t>(inst->attrs().replica_groups[0].size()) != *members)
    return;
  Instruction* twice = edit.broadcast_scalar(edit.reshape(inst->operand(0), {}), {2});
  Instruction* all = edit.add(Opcode::AllGather, Shape::array(inst->shape.dtype, {2 * *members}), {twice});
  all->dimensions = {0};
  all->mutable_attrs() = inst->attrs();
  all->mutable_attrs().constrain_layout = false;
  Instruction* sum = edit.slice(all, {0}, {1});
  for (int64_t m = 1; m < *members; ++m)
    sum = edit.apply(Opcode::Add, {sum, edit.slice(all, {2 * m}, {2 * m + 1})});
  replace_user(edit, inst, edit.reshape(sum, inst->shape.dims), {});
}

}  // namespace

Status decompose_int_all_reduce(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    decompose(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
