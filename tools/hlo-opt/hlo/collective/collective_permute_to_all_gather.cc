// A collective-permute by an all-gather: each process gathers everybody's value and takes that of its source
// from a table by its own number, and zeros where it has none. Source: spec/hlo-front-half.md §4.19 (86).
#include <algorithm>
#include <numeric>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/collective/permute_sources.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Literal table(const Dims& values) {
  Literal literal = Literal::zeros(Shape::array(Dtype::S32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i)
    store_from_int64(Dtype::S32, literal.mutable_data() + 4 * i, values[i]);
  return literal;
}

// x of every number, stacked: [numbers, x...].
Instruction* gathered(ComputationEditor& edit, const Instruction& permute, Instruction* x) {
  const hlo::Module& module = *permute.parent->module();
  Dims piece = x->shape.dims;
  piece.insert(piece.begin(), 1);
  Dims whole = piece;
  whole[0] = permuted_count(permute);
  Instruction* gather = edit.add(Opcode::AllGather, Shape::array(x->shape.dtype, std::move(whole)),
                                 {edit.reshape(x, std::move(piece))});
  gather->dimensions = {0};
  hlo::Attributes& attrs = gather->mutable_attrs();
  attrs.channel_id = permute.attrs().channel_id;
  attrs.use_global_device_ids = attrs.channel_id > 0;
  const int64_t copies = attrs.channel_id > 0 ? module.replica_count : 1;
  for (int64_t copy = 0; copy < copies; ++copy) {
    Dims group(static_cast<size_t>(permuted_count(permute)));
    std::iota(group.begin(), group.end(), copy * permuted_count(permute));
    attrs.replica_groups.push_back(std::move(group));
  }
  return gather;
}

void to_all_gather(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  const auto sources = permute_sources(*inst);
  if (!sources || sources->size() < 2 || inst->shape.num_elements() == 0) return;
  Instruction* all = gathered(edit, *inst, inst->operand(0));
  const Opcode number = inst->attrs().channel_id > 0 ? Opcode::PartitionId : Opcode::ReplicaId;
  Instruction* self = edit.convert(edit.add(number, Shape::array(Dtype::U32), {}), Dtype::S32);
  Instruction* source = edit.reshape(edit.dynamic_slice(edit.constant(table(*sources)), {self}, {1}), {});
  Instruction* zero = edit.scalar(Dtype::S32, 0);
  std::vector<Instruction*> starts(all->shape.dims.size(), zero);
  starts[0] = source;
  Dims sizes = all->shape.dims;
  sizes[0] = 1;
  Instruction* value =
      edit.reshape(edit.dynamic_slice(all, std::move(starts), std::move(sizes)), inst->shape.dims);
  if (std::find(sources->begin(), sources->end(), -1) != sources->end()) {
    Instruction* has_source = edit.compare(hlo::CompareDirection::GE, source, zero);
    value = edit.apply(Opcode::Select, {edit.broadcast_scalar(has_source, inst->shape.dims), value,
                                        edit.splat(inst->shape, 0)});
  }
  replace_user(edit, inst, value, {});
}

}  // namespace

Status collective_permute_to_all_gather(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    to_all_gather(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
