// Cost keys, successor lists and heights of a block: the scheduler's view of it.
#include <algorithm>
#include <map>

#include "ir-formats/bir/lower.h"
#include "tools/walrus_driver/physical_map.h"
#include "tools/walrus_driver/schedule.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

/// Time from start to results, alone.
machine::Ticks latency(const ScheduleInput& in, uint32_t i, const ArchModel& arch) {
  if (in.transfer_of[i] != bir::kNone) {
    int64_t most = 0;
    for (int64_t bytes : in.transfers[in.transfer_of[i]].engine_bytes) most = std::max(most, bytes);
    return machine::ticks_from_ns(static_cast<double>(arch.dma_start_latency_ns), arch) +
           machine::dma_ticks(most, arch);
  }
  machine::Ticks total = 0;
  for (uint32_t k = in.first_key[i]; k < in.first_key[i + 1]; ++k)
    if (in.keys[k].opcode != isa::Opcode::Ldweights) total += machine::execution_ticks(in.keys[k], arch);
  return total;
}

void link_successors(const bir::Function& fn, ScheduleInput& out) {
  const std::vector<bir::Instruction>& list = fn.block.instructions;
  out.successor_begin.assign(list.size() + 1, 0);
  for (const bir::Instruction& inst : list)
    for (const bir::Dependency& dep : inst.dependencies) ++out.successor_begin[dep.predecessor + 1];
  for (size_t i = 0; i < list.size(); ++i) out.successor_begin[i + 1] += out.successor_begin[i];
  out.successors.resize(out.successor_begin.back());
  std::vector<uint32_t> next(out.successor_begin.begin(), out.successor_begin.end() - 1);
  for (uint32_t i = 0; i < list.size(); ++i)
    for (const bir::Dependency& dep : list[i].dependencies) out.successors[next[dep.predecessor]++] = i;
}

/// Numbers equal stationary accesses that hold the same data: a write to the location in between starts a new
/// number.
class WeightNumbers {
 public:
  explicit WeightNumbers(const bir::Function& fn) : version_(fn.locations.size(), 0) {}

  uint32_t number(const bir::Instruction& inst) {
    const bir::Operand& w = inst.ins[1];
    std::vector<int64_t> key = {w.location,
                                version_[w.location],
                                w.partition,
                                w.offset,
                                static_cast<int64_t>(w.dtype),
                                static_cast<int64_t>(inst.attrs().perf_mode),
                                inst.attrs().is_transpose};
    for (int i = 0; i < w.rank; ++i) {
      key.push_back(w.ap[i].step);
      key.push_back(w.ap[i].count);
    }
    return numbers_.try_emplace(std::move(key), static_cast<uint32_t>(numbers_.size())).first->second;
  }
  void wrote(const bir::Instruction& inst) {
    for (const bir::Operand& op : inst.outs)
      if (op.kind == bir::OperandKind::PhysicalAp) ++version_[op.location];
  }

 private:
  std::vector<int64_t> version_;
  std::map<std::vector<int64_t>, uint32_t> numbers_;
};

}  // namespace

uint64_t table_sets_for(const bir::Instruction& inst) {
  if (inst.opcode != bir::Opcode::Activation || !isa::info(inst.attrs().function).uses_table) return 0;
  uint64_t sets = 0;
  for (int set = 0; set < machine::kNumTableSets; ++set)
    if (machine::table_set_holds(set, inst.attrs().function)) sets |= uint64_t{1} << set;
  return sets;
}

Status make_schedule_input(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                           ScheduleInput& out) {
  const std::vector<bir::Instruction>& list = fn.block.instructions;
  const PhysicalMap map(fn, arch);
  bir::Lowered lowered;
  WeightNumbers weights(fn);
  out.first_key.reserve(list.size() + 1);
  for (const bir::Instruction& inst : list) {
    out.first_key.push_back(static_cast<uint32_t>(out.keys.size()));
    lowered.clear();
    NCC_TRY(bir::lower(inst, module, arch, map, lowered));
    for (const isa::MachineInst& m : lowered.instructions) out.keys.push_back(machine::cost_key(m));
    out.transfer_of.push_back(bir::kNone);
    if (!lowered.descriptors.empty()) {
      NCC_CHECK(lowered.descriptors.size() == 1, "'{}': {} descriptors after lower_dma", inst.name,
                lowered.descriptors.size());
      out.transfer_of.back() = static_cast<uint32_t>(out.transfers.size());
      out.transfers.push_back(machine::dma_cost(lowered.descriptors.front(), arch));
    }
    out.table_sets.push_back(table_sets_for(inst));
    out.weights.push_back(inst.opcode == bir::Opcode::Matmult ? weights.number(inst) : bir::kNone);
    weights.wrote(inst);
  }
  out.first_key.push_back(static_cast<uint32_t>(out.keys.size()));
  link_successors(fn, out);
  out.height.assign(list.size(), 0);
  for (size_t i = list.size(); i-- > 0;) {
    int64_t below = 0;
    for (uint32_t s = out.successor_begin[i]; s < out.successor_begin[i + 1]; ++s)
      below = std::max(below, out.height[out.successors[s]]);
    out.height[i] = below + latency(out, static_cast<uint32_t>(i), arch);
  }
  return Status::ok();
}

}  // namespace ncc::walrus
