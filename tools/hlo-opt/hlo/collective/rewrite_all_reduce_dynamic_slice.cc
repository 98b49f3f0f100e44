// An all-reduce of which every process keeps its own part is a reduce-scatter:
//   dynamic-slice(all-reduce(x)), member m of a group of n at m * size along one dimension, n * size its size
//     -> reduce-scatter(x)
// for one or several groups. The start is computed for every process of the grid from its numbers and the
// constants of the program, in whatever way the program writes it. The all-reduce's only use. Source:
// spec/hlo-front-half.md §4.19 (99, 100).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// The only dimension that is cut.
std::optional<int64_t> cut_dimension(const Shape& whole, const Shape& part) {
  std::optional<int64_t> found;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (whole.dims[static_cast<size_t>(d)] == part.dims[static_cast<size_t>(d)]) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

bool takes_own_part(const Instruction* start, const std::vector<Dims>& groups, const hlo::Module& module,
                    int64_t size, int64_t whole) {
  for (const Dims& group : groups) {
    for (size_t m = 0; m < group.size(); ++m) {
      const auto at = value_on(start, module, group[m]);
      if (!at || std::clamp<int64_t>(*at, 0, whole - size) != static_cast<int64_t>(m) * size) return false;
    }
  }
  return true;
}

void rewrite(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::DynamicSlice) || !is_plain_array(inst) || edit.has_control_edge(inst)) return;
  Instruction* sum = inst->operand(0);
  if (!is_simple_collective(edit, sum, Opcode::AllReduce) || !edit.has_one_use(sum)) return;
  const auto d = cut_dimension(sum->shape, inst->shape);
  const auto groups = process_groups(*sum);
  if (!d || !groups) return;
  const int64_t size = inst->shape.dims[static_cast<size_t>(*d)];
  const int64_t whole = sum->shape.dims[static_cast<size_t>(*d)];
  const auto members = group_size(*groups);
  // The groups are written out for the reduce-scatter, whose result depends on their size.
  if (!members || *members < 2 || *members * size != whole || sum->attrs().replica_groups.empty() ||
      static_cast<int64_t>(sum->attrs().replica_groups[0].size()) != *members ||
      !takes_own_part(inst->operand(1 + *d), *groups, *sum->parent->module(), size, whole))
    return;
  Instruction* part = edit.add(Opcode::ReduceScatter, inst->shape, {sum->operand(0)});
  part->called = sum->called;
  part->dimensions = {*d};
  part->mutable_attrs() = sum->attrs();
  part->mutable_attrs().constrain_layout = false;
  Instruction* collectives[] = {sum};
  replace_user(edit, inst, part, collectives);
}

}  // namespace

Status rewrite_all_reduce_dynamic_slice(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    rewrite(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
