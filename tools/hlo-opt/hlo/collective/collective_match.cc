#include "tools/hlo-opt/hlo/collective/collective_match.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tools/hlo-opt/hlo/evaluate.h"
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMostProcesses = 4096;
constexpr int64_t kMostSteps = 256;         // of evaluating one scalar
constexpr int64_t kMostElements = 1 << 16;  // of a table it reads

// What the numbers of a group stand for follows from the channel and use_global_device_ids.
std::vector<Dims> groups_of(const Instruction& inst, int64_t replicas, int64_t partitions) {
  const hlo::Attributes& attrs = inst.attrs();
  const bool reduces_or_gathers =
      inst.is(Opcode::AllGather) || inst.is(Opcode::AllReduce) || inst.is(Opcode::ReduceScatter);
  const bool has_channel = attrs.channel_id > 0;
  const bool flat = has_channel && reduces_or_gathers && attrs.use_global_device_ids;
  const bool by_partition = has_channel && !reduces_or_gathers;
  std::vector<Dims> stated = attrs.replica_groups;
  if (stated.empty()) {
    stated.emplace_back(static_cast<size_t>(flat           ? replicas * partitions
                                            : by_partition ? partitions
                                                           : replicas));
    std::iota(stated[0].begin(), stated[0].end(), 0);
  }
  if (flat) return stated;
  std::vector<Dims> groups;
  for (const Dims& group : stated) {
    // One such group per number of the other kind, or, for reductions over a channel, one of all partitions.
    const int64_t copies = by_partition ? replicas : has_channel ? 1 : partitions;
    for (int64_t copy = 0; copy < copies; ++copy) {
      Dims members;
      if (has_channel && !by_partition) {
        for (int64_t p = 0; p < partitions; ++p)
          for (int64_t replica : group) members.push_back(replica * partitions + p);
      } else {
        for (int64_t number : group)
          members.push_back(by_partition ? copy * partitions + number : number * partitions + copy);
      }
      groups.push_back(std::move(members));
    }
  }
  return groups;
}

class ProcessValue {
 public:
  ProcessValue(const hlo::Module& module, int64_t process) : module_(module), process_(process) {}

  std::optional<Literal> of(const Instruction* inst, int depth = 0) {
    constexpr int kMaxDepth = 48;
    if (inst->is(Opcode::Constant)) return inst->literal;
    if (inst->is(Opcode::ReplicaId))
      return Literal::scalar_int(inst->shape.dtype, process_ / module_.num_partitions);
    if (inst->is(Opcode::PartitionId))
      return Literal::scalar_int(inst->shape.dtype, process_ % module_.num_partitions);
    if (depth > kMaxDepth || ++steps_ > kMostSteps || !is_pure(*inst)) return std::nullopt;
    const auto known = values_.find(inst);
    if (known != values_.end()) return known->second;
    std::vector<Literal> operands;
    for (const Instruction* operand : inst->operands) {
      std::optional<Literal> value = of(operand, depth + 1);
      if (!value) return std::nullopt;
      operands.push_back(std::move(*value));
    }
    std::optional<Literal> value = evaluate(*inst, std::move(operands));
    values_[inst] = value;
    return value;
  }

 private:
  static bool is_pure(const Instruction& inst) {
    if (!is_plain_array(&inst) || inst.has_side_effect() || !inst.called.empty() || inst.operands.empty() ||
        inst.shape.num_elements() > kMostElements)
      return false;
    return !inst.is(Opcode::CustomCall) && !inst.is(Opcode::GetTupleElement) &&
           inst.info().kind != hlo::OpKind::Contract;
  }

  const hlo::Module& module_;
  int64_t process_, steps_ = 0;
  std::unordered_map<const Instruction*, std::optional<Literal>> values_;
};

}  // namespace

bool is_synchronous(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::AllReduce:
    case Opcode::AllGather:
    case Opcode::ReduceScatter:
    case Opcode::AllToAll:
    case Opcode::CollectiveBroadcast:
    case Opcode::CollectivePermute:
      return true;
    default:
      return false;
  }
}

bool is_simple_collective(const ComputationEditor& edit, const Instruction* inst, Opcode opcode) {
  return inst->is(opcode) && inst->num_operands() == 1 && is_plain_array(inst) &&
         is_plain_array(inst->operand(0)) && inst->shape.dtype == inst->operand_shape(0).dtype &&
         !edit.has_control_edge(inst);
}

bool same_groups(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.attrs().replica_groups == b.attrs().replica_groups &&
         (a.attrs().channel_id > 0) == (b.attrs().channel_id > 0) &&
         a.attrs().use_global_device_ids == b.attrs().use_global_device_ids &&
         a.attrs().frontend_attributes == b.attrs().frontend_attributes;
}

std::optional<std::vector<Dims>> process_groups(const Instruction& collective) {
  const hlo::Module& module = *collective.parent->module();
  const int64_t replicas = module.replica_count, partitions = module.num_partitions;
  if (replicas < 1 || partitions < 1 || replicas > kMostProcesses || partitions > kMostProcesses ||
      replicas * partitions > kMostProcesses)
    return std::nullopt;
  std::vector<Dims> groups = groups_of(collective, replicas, partitions);
  std::vector<bool> seen(static_cast<size_t>(replicas * partitions), false);
  size_t members = 0;
  for (const Dims& group : groups) {
    for (int64_t process : group) {
      if (process < 0 || process >= replicas * partitions || seen[static_cast<size_t>(process)])
        return std::nullopt;
      seen[static_cast<size_t>(process)] = true;
      ++members;
    }
  }
  if (members != seen.size()) return std::nullopt;
  return groups;
}

std::optional<int64_t> group_size(const std::vector<Dims>& groups) {
  for (const Dims& group : groups)
    if (group.size() != groups[0].size()) return std::nullopt;
  return static_cast<int64_t>(groups[0].size());
}

std::optional<int64_t> value_on(const Instruction* value, const hlo::Module& module, int64_t process) {
  if (!value->shape.is_scalar() || !is_integer(value->shape.dtype)) return std::nullopt;
  const std::optional<Literal> literal = ProcessValue(module, process).of(value);
  if (!literal) return std::nullopt;
  return literal->as_int64(0);
}

bool are_uniform(std::span<Instruction* const> scalars, const hlo::Module& module,
                 const std::vector<Dims>& groups) {
  for (const Instruction* scalar : scalars) {
    for (const Dims& group : groups) {
      const std::optional<int64_t> first = value_on(scalar, module, group[0]);
      if (!first) return false;
      for (int64_t process : group)
        if (value_on(scalar, module, process) != first) return false;
    }
  }
  return true;
}

Instruction* collective_on(ComputationEditor& edit, const Instruction* collective, Instruction* operand,
                           Shape shape) {
  Instruction* made = edit.clone(collective, {operand});
  made->shape = std::move(shape);
  return made;
}

void replace_user(ComputationEditor& edit, Instruction* user, Instruction* value,
                  std::span<Instruction* const> collectives) {
  edit.replace(user, value);
  if (is_synchronous(*user)) edit.erase(user);
  for (Instruction* collective : collectives)
    if (is_synchronous(*collective) && edit.use_count(collective) == 0) edit.erase(collective);
}

int64_t largest_channel(const hlo::Module& module) {
  int64_t largest = 0;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions())
      largest = std::max(largest, inst->attrs().channel_id);
  return largest;
}

}  // namespace ncc::hlo_passes
