#include "ir-formats/hlo/interpreter/collective_groups.h"

#include <algorithm>
#include <numeric>

namespace ncc::hlo {
namespace {

// Channel and use_global_device_ids choose what the numbers of a group stand for.
enum class Numbers : uint8_t { Replicas, ReplicasOfAllPartitions, Partitions, Flattened };

Numbers numbers_of(const Instruction& inst) {
  if (inst.attrs().channel_id <= 0) return Numbers::Replicas;
  switch (inst.opcode) {
    case Opcode::AllGather:
    case Opcode::AllGatherStart:
    case Opcode::AllReduce:
    case Opcode::AllReduceStart:
    case Opcode::ReduceScatter:
    case Opcode::CollectiveReduce:
      return inst.attrs().use_global_device_ids ? Numbers::Flattened : Numbers::ReplicasOfAllPartitions;
    default:
      return Numbers::Partitions;
  }
}

// The group of a list of numbers, as seen from `self`.
std::vector<ProcessId> members(const std::vector<int64_t>& numbers, Numbers meaning, ProcessId self,
                               const ProcessGrid& grid) {
  std::vector<ProcessId> group;
  if (meaning == Numbers::ReplicasOfAllPartitions) {
    for (int64_t partition = 0; partition < grid.partitions(); ++partition)
      for (int64_t replica : numbers) group.push_back({replica, partition});
    return group;
  }
  for (int64_t number : numbers) {
    if (meaning == Numbers::Replicas) group.push_back({number, self.partition});
    if (meaning == Numbers::Partitions) group.push_back({self.replica, number});
    if (meaning == Numbers::Flattened)
      group.push_back({number / grid.partitions(), number % grid.partitions()});
  }
  return group;
}

bool is_permute(const Instruction& inst) {
  return inst.is(Opcode::CollectivePermute) || inst.is(Opcode::CollectivePermuteStart);
}

// Groups as stated; none stated, and a permutation, mean one group of everybody.
std::vector<std::vector<int64_t>> stated_groups(const Instruction& inst, Numbers meaning,
                                                const ProcessGrid& grid) {
  if (!inst.attrs().replica_groups.empty() && !is_permute(inst)) return inst.attrs().replica_groups;
  int64_t count = grid.replicas();
  if (meaning == Numbers::Partitions) count = grid.partitions();
  if (meaning == Numbers::Flattened) count = grid.replicas() * grid.partitions();
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

Status require_one_device(const Instruction& inst) {
  const Module* module = inst.parent ? inst.parent->module() : nullptr;
  const bool one = !module || module->replica_count * module->num_partitions <= 1;
  const auto& groups = inst.attrs().replica_groups;
  if (one && std::all_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() <= 1; }))
    return Status::ok();
  return unsupported(inst, "the program runs on several devices");
}

Status check_group(const Instruction& inst, const std::vector<ProcessId>& group, const ProcessGrid& grid) {
  for (size_t i = 0; i < group.size(); ++i) {
    const bool inside = group[i].replica >= 0 && group[i].replica < grid.replicas() &&
                        group[i].partition >= 0 && group[i].partition < grid.partitions();
    const bool twice = std::find(group.begin(), group.begin() + static_cast<int64_t>(i), group[i]) !=
                       group.begin() + static_cast<int64_t>(i);
    if (!inside || twice)
      return error(Code::ERUN003, inst.loc,
                   fmt::format("{}: its groups do not fit a grid of {} x {} processes", describe(inst),
                               grid.replicas(), grid.partitions()));
  }
  return Status::ok();
}

}  // namespace

Result<Meeting> meet(Evaluator& evaluator, const Instruction& inst, const Operands& operands) {
  Meeting meeting;
  const Process& process = evaluator.process();
  if (!process.grid) {
    NCC_TRY(require_one_device(inst));
    meeting.group = {process.id};
    meeting.values = {operands};
    return meeting;
  }
  const Numbers meaning = numbers_of(inst);
  for (const std::vector<int64_t>& numbers : stated_groups(inst, meaning, *process.grid)) {
    meeting.group = members(numbers, meaning, process.id, *process.grid);
    const auto found = std::find(meeting.group.begin(), meeting.group.end(), process.id);
    if (found == meeting.group.end()) continue;
    NCC_TRY(check_group(inst, meeting.group, *process.grid));
    meeting.position = static_cast<size_t>(found - meeting.group.begin());
    NCC_ASSIGN(meeting.values,
               process.grid->exchange(process.id, inst.attrs().channel_id, meeting.group, operands));
    for (const std::vector<Literal>& given : meeting.values) {
      bool same = given.size() == operands.size();
      for (size_t i = 0; same && i < given.size(); ++i)
        same = given[i].shape().dtype == operands[i].shape().dtype &&
               given[i].shape().dims == operands[i].shape().dims;
      if (!same)
        return error(Code::ERUN003, inst.loc,
                     fmt::format("{}: members bring different operands", describe(inst)));
    }
    return meeting;
  }
  meeting.is_member = false;
  return meeting;
}

}  // namespace ncc::hlo
