// Collective permutes:
//   collective-permute-to-all-gather (86)      each process gathers everybody's value, takes that of its
//   source
//                                              from a table by its own number, and zeros where it has none
//   aws_neuron_delete_permute (89)             a permute of everybody to itself hands its operand on; one
//   without
//                                              pairs gives zeros
//   aws_neuron_rewrite_collective_permute (94) a permute of a permute is one permute of the composed pairs
// Source: spec/hlo-front-half.md §4.19.
#include <algorithm>
#include <map>
#include <numeric>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// With a channel the pairs name partitions, else replicas.
int64_t numbered(const Instruction& permute) {
  const hlo::Module& module = *permute.parent->module();
  return permute.attrs().channel_id > 0 ? module.num_partitions : module.replica_count;
}

// The source of each number, -1 = none; nothing when a pair names a process that does not exist or a target
// twice.
std::optional<Dims> sources_of(const Instruction& permute) {
  constexpr int64_t kMostNumbers = 4096;
  const int64_t count = numbered(permute);
  if (count < 1 || count > kMostNumbers) return std::nullopt;
  Dims sources(static_cast<size_t>(count), -1);
  for (const auto& [source, target] : permute.attrs().source_target_pairs) {
    if (source < 0 || source >= count || target < 0 || target >= count ||
        sources[static_cast<size_t>(target)] >= 0)
      return std::nullopt;
    sources[static_cast<size_t>(target)] = source;
  }
  return sources;
}

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
  whole[0] = numbered(permute);
  Instruction* gather = edit.add(Opcode::AllGather, Shape::array(x->shape.dtype, std::move(whole)),
                                 {edit.reshape(x, std::move(piece))});
  gather->dimensions = {0};
  hlo::Attributes& attrs = gather->mutable_attrs();
  attrs.channel_id = permute.attrs().channel_id;
  attrs.use_global_device_ids = attrs.channel_id > 0;
  const int64_t copies = attrs.channel_id > 0 ? module.replica_count : 1;
  for (int64_t copy = 0; copy < copies; ++copy) {
    Dims group(static_cast<size_t>(numbered(permute)));
    std::iota(group.begin(), group.end(), copy * numbered(permute));
    attrs.replica_groups.push_back(std::move(group));
  }
  return gather;
}

void to_all_gather(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  const auto sources = sources_of(*inst);
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

void delete_useless(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  const auto sources = sources_of(*inst);
  if (!sources) return;
  bool to_self = true, from_nobody = true;
  for (size_t i = 0; i < sources->size(); ++i) {
    to_self &= (*sources)[i] == static_cast<int64_t>(i);
    from_nobody &= (*sources)[i] < 0;
  }
  if (to_self) replace_user(edit, inst, inst->operand(0), {});
  if (from_nobody) replace_user(edit, inst, edit.splat(inst->shape, 0), {});
}

void compose(ComputationEditor& edit, Instruction* inst) {
  if (!is_simple_collective(edit, inst, Opcode::CollectivePermute)) return;
  Instruction* inner = inst->operand(0);
  if (!is_simple_collective(edit, inner, Opcode::CollectivePermute) || !edit.has_one_use(inner) ||
      (inner->attrs().channel_id > 0) != (inst->attrs().channel_id > 0))
    return;
  const auto first = sources_of(*inner), second = sources_of(*inst);
  if (!first || !second) return;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t target = 0; target < second->size(); ++target) {
    const int64_t middle = (*second)[target];
    const int64_t source = middle < 0 ? -1 : (*first)[static_cast<size_t>(middle)];
    if (source >= 0) pairs.emplace_back(source, static_cast<int64_t>(target));
  }
  Instruction* both = collective_on(edit, inst, inner->operand(0), inst->shape);
  both->mutable_attrs().source_target_pairs = std::move(pairs);
  Instruction* collectives[] = {inner};
  replace_user(edit, inst, both, collectives);
}

Status visit(hlo::Module& module, PassContext& context, void (*rewrite)(ComputationEditor&, Instruction*)) {
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    rewrite(edit, inst);
    return Status::ok();
  });
}

}  // namespace

Status collective_permute_to_all_gather(hlo::Module& module, PassContext& context) {
  return visit(module, context, to_all_gather);
}

Status delete_permute(hlo::Module& module, PassContext& context) {
  return visit(module, context, delete_useless);
}

Status rewrite_collective_permute(hlo::Module& module, PassContext& context) {
  return visit(module, context, compose);
}

}  // namespace ncc::hlo_passes
