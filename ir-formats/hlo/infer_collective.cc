// Shapes of collectives. The size of a process group is that of the replica groups; with none stated it
// depends on the process grid, and the sizes it would scale are taken from the stated shape.
#include <algorithm>
#include <set>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

// Labels of what the collectives have in common; "" where an op has no such constraint.
struct GroupLabels {
  std::string_view unique, in_range, global_ids, size;
};

Status check_groups(const Instruction& inst, const GroupLabels& labels) {
  const Attributes& a = inst.attrs();
  std::set<int64_t> seen;
  for (const auto& group : a.replica_groups) {
    if (group.size() != a.replica_groups[0].size() && !labels.size.empty())
      return mismatch(inst, labels.size, "sizes of replica groups",
                      fmt::format("{} and {}", a.replica_groups[0].size(), group.size()), "equal ones");
    for (int64_t id : group) {
      if (id < 0) return mismatch(inst, labels.in_range, "replica group member", id, "at least 0");
      if (!seen.insert(id).second)
        return mismatch(inst, labels.unique, "replica group member", id, "each member once");
    }
  }
  if (!labels.global_ids.empty() && a.use_global_device_ids && a.channel_id <= 0)
    return mismatch(inst, labels.global_ids, "channel_id with use_global_device_ids", a.channel_id,
                    "above 0");
  return Status::ok();
}

// Members of a group, or 0 when that depends on the process grid.
int64_t group_size(const Instruction& inst) {
  const auto& groups = inst.attrs().replica_groups;
  return groups.empty() ? 0 : static_cast<int64_t>(groups[0].size());
}

Status check_dimension(const Instruction& inst, const Shape& operand, std::string_view label) {
  if (inst.dimensions.size() != 1)
    return mismatch(inst, label, "number of dimensions", inst.dimensions.size(), 1);
  return check_dims(inst, inst.dimensions, operand.rank(), label, label, "dimension");
}

// Result i of the op as stated.
const Shape* stated(const Instruction& inst, int64_t i) {
  if (!inst.shape.is_tuple()) return i == 0 ? &inst.shape : nullptr;
  return at(i) < inst.shape.elements.size() ? &inst.shape.elements[at(i)] : nullptr;
}

// The stated size of one dimension of result i, when it is a multiple (or a divisor) of `size`.
int64_t stated_size(const Instruction& inst, int64_t i, int64_t dim, int64_t size) {
  const Shape* shape = stated(inst, i);
  return shape && shape->is_array() && dim < shape->rank() ? shape->dims[at(dim)] : size;
}

Result<Shape> infer_all_gather(const Instruction& inst) {
  NCC_TRY(check_groups(inst, {"all_gather_c2", "all_gather_c4", "all_gather_c5", "all_gather_c3"}));
  const int64_t members = group_size(inst);
  std::vector<Shape> results;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    const Shape& operand = inst.operand_shape(i);
    NCC_TRY(check_dimension(inst, operand, "all_gather_c1"));
    std::vector<int64_t> dims = operand.dims;
    int64_t& size = dims[at(inst.dimensions[0])];
    size = members > 0 ? std::min(size, kMaxDerivedSize / members) * members
                       : stated_size(inst, i, inst.dimensions[0], size);
    results.push_back(Shape::array(operand.dtype, std::move(dims)));
  }
  return as_results(std::move(results));
}

// The body's result type may be wider than the operands' (all_reduce_c7).
Result<Shape> infer_all_reduce(const Instruction& inst) {
  NCC_TRY(check_groups(inst, {"all_reduce_c1", "all_reduce_c3", "all_reduce_c4", ""}));
  NCC_TRY(check_scalar_body(inst, *inst.body(), 2, 1, "all_reduce_c5"));
  std::vector<Shape> results;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    const Shape& operand = inst.operand_shape(i);
    const Shape& root = inst.body()->root()->shape;
    // One body serves operands of several types in HLO; it names the type of the only one.
    results.push_back(Shape::array(inst.num_operands() == 1 ? root.dtype : operand.dtype, operand.dims));
  }
  return as_results(std::move(results));
}

Result<Shape> infer_reduce_scatter(const Instruction& inst) {
  NCC_TRY(check_groups(inst,
                       {"reduce_scatter_c3", "reduce_scatter_c5", "reduce_scatter_c6", "reduce_scatter_c4"}));
  NCC_TRY(check_scalar_body(inst, *inst.body(), 2, 1, "reduce_scatter_c7"));
  const int64_t members = group_size(inst);
  std::vector<Shape> results;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    const Shape& operand = inst.operand_shape(i);
    NCC_TRY(check_dimension(inst, operand, "reduce_scatter_c2"));
    std::vector<int64_t> dims = operand.dims;
    int64_t& size = dims[at(inst.dimensions[0])];
    if (members > 0 && size % members != 0)
      return mismatch(inst, "reduce_scatter_c1", "size of the scattered dimension", size,
                      fmt::format("a multiple of {}", members));
    size = members > 0 ? size / members : stated_size(inst, i, inst.dimensions[0], size);
    results.push_back(
        Shape::array(inst.num_operands() == 1 ? inst.body()->root()->shape.dtype : operand.dtype, dims));
  }
  return as_results(std::move(results));
}

// HLO has two forms: n operands, one for each member, and one operand that is split and concatenated.
Result<Shape> infer_all_to_all(const Instruction& inst) {
  NCC_TRY(check_groups(inst, {"all_to_all_c5", "all_to_all_c7", "", "all_to_all_c8"}));
  const Attributes& a = inst.attrs();
  if (a.split_dimension < 0) {
    if (!inst.dimensions.empty() && inst.num_operands() > 0)
      NCC_TRY(check_dimension(inst, inst.operand_shape(0), "all_to_all_c1"));
    return as_results(operand_shapes(inst));
  }
  if (a.split_count < 1) return mismatch(inst, "all_to_all_c4", "split_count", a.split_count, "at least 1");
  if (group_size(inst) > 0 && group_size(inst) != a.split_count)
    return mismatch(inst, "all_to_all_c8", "size of the replica groups", group_size(inst), a.split_count);
  std::vector<Shape> results;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    const Shape& operand = inst.operand_shape(i);
    if (a.split_dimension >= operand.rank())
      return mismatch(inst, "all_to_all_c1", "split_dimension", a.split_dimension,
                      fmt::format("below {}", operand.rank()));
    if (a.concat_dimension < 0 || a.concat_dimension >= operand.rank())
      return mismatch(inst, "all_to_all_c3", "concat_dimension", a.concat_dimension,
                      fmt::format("0 to {}", operand.rank() - 1));
    std::vector<int64_t> dims = operand.dims;
    if (dims[at(a.split_dimension)] % a.split_count != 0)
      return mismatch(inst, "all_to_all_c2", "size of the split dimension", dims[at(a.split_dimension)],
                      fmt::format("a multiple of {}", a.split_count));
    dims[at(a.split_dimension)] /= a.split_count;
    int64_t& size = dims[at(a.concat_dimension)];
    size = std::min(size, kMaxDerivedSize / a.split_count) * a.split_count;
    results.push_back(Shape::array(operand.dtype, std::move(dims)));
  }
  return as_results(std::move(results));
}

Result<Shape> infer_collective_permute(const Instruction& inst) {
  std::set<int64_t> sources, targets;
  for (const auto& [source, target] : inst.attrs().source_target_pairs) {
    if (source < 0 || target < 0)
      return mismatch(inst, "collective_permute_c4", "source target pair",
                      fmt::format("{{{},{}}}", source, target), "numbers of at least 0");
    if (!sources.insert(source).second)
      return mismatch(inst, "collective_permute_c2", "source", source, "each source once");
    if (!targets.insert(target).second)
      return mismatch(inst, "collective_permute_c3", "target", target, "each target once");
  }
  // In place: (input, output, input offsets, output offsets).
  if (!inst.attrs().slice_sizes.empty() && inst.num_operands() == 4) return inst.operand_shape(1);
  return as_results(operand_shapes(inst));
}

// The last operand names the roots when they are dynamic.
std::vector<Shape> broadcast_operands(const Instruction& inst) {
  std::vector<Shape> shapes = operand_shapes(inst);
  if (inst.attrs().has_dynamic_root && shapes.size() > 1) shapes.pop_back();
  return shapes;
}

// A start op's tuple is the operands, then the results; a done op takes the results.
Result<Shape> infer_done(const Instruction& inst) {
  const Shape& start = inst.operand_shape(0);
  if (inst.is(Opcode::AllReduceDone)) return start;
  if (!start.is_tuple() || start.elements.size() < 2)
    return mismatch(inst, "start", "operand", to_string(start), "a tuple (operands, results, …)");
  return start.elements[1];
}

}  // namespace

Result<Shape> infer_collective(const Instruction& inst) {
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    const bool done = inst.is(Opcode::AllGatherDone) || inst.is(Opcode::AllReduceDone) ||
                      inst.is(Opcode::CollectivePermuteDone) || inst.is(Opcode::CollectivePermuteStart) ||
                      inst.is(Opcode::CollectivePermute);
    if (!done && !inst.operand_shape(i).is_array())
      return mismatch(inst, "operand kind", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      "an array");
  }
  switch (inst.opcode) {
    case Opcode::AllGather:
      return infer_all_gather(inst);
    case Opcode::AllReduce:
    case Opcode::AllReduceStart:
      return infer_all_reduce(inst);
    case Opcode::ReduceScatter:
      return infer_reduce_scatter(inst);
    case Opcode::AllToAll:
      return infer_all_to_all(inst);
    case Opcode::CollectivePermute:
      return infer_collective_permute(inst);
    case Opcode::CollectiveBroadcast:
      NCC_TRY(check_groups(inst, {"collective_broadcast_c1", "collective_broadcast_c2", "", ""}));
      return as_results(broadcast_operands(inst));
    case Opcode::CollectiveReduce:
      NCC_TRY(check_groups(inst, {"collective_reduce", "collective_reduce", "collective_reduce", ""}));
      return as_results(broadcast_operands(inst));
    case Opcode::RaggedAllToAll:
      return inst.operand_shape(1);
    case Opcode::AllGatherDone:
    case Opcode::AllReduceDone:
    case Opcode::CollectivePermuteDone:
      return infer_done(inst);
    case Opcode::AllGatherStart:
      NCC_TRY(check_groups(inst, {"all_gather_c2", "all_gather_c4", "all_gather_c5", "all_gather_c3"}));
      return inst.shape;
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
