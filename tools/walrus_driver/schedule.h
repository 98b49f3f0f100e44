// Time-aware list scheduling of a flat block on the machine's cost model.
//
// An instruction is a candidate when all its predecessors are placed. Each engine, and the DMA side as a
// whole, is a lane; the lane that can start earliest takes its best candidate: critical path first in coarse
// steps, emission order inside a step, so that a loop's iterations do not mix without need. Time advances
// with machine::advance and DmaState::advance, the functions the simulator itself uses. The DMA lane hands
// out a transfer only shortly before the DMA engines can take it, so that prefetches cannot fill the rings in
// front of a transfer that becomes urgent. Several priority rules are tried and the shortest result is kept.
// O(n log n) each. Sources: spec/walrus.md §3.4; DESIGN §7 (3), section 14 M3, M6.
#pragma once
#include <cstdint>
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/bir/module.h"
#include "ir-formats/isa/machine/cost.h"

namespace ncc::walrus {

/// What the scheduler must know of each instruction; built once, used by every rule.
struct ScheduleInput {
  std::vector<machine::CostKey> keys;  // of all instructions, in issue order
  std::vector<uint32_t> first_key;     // by instruction, and one more
  std::vector<machine::DmaCost> transfers;
  std::vector<uint32_t> transfer_of;  // by instruction, kNone for compute
  std::vector<uint64_t> table_sets;   // by instruction: sets that hold its function; 0 = needs no table
  std::vector<uint32_t>
      weights;  // by instruction: equal numbers = same stationary access; kNone = not a Matmult
  std::vector<uint32_t> successor_begin, successors;
  std::vector<int64_t> height;  // ticks from its start to the end of the program
};
/// Fails when an instruction has no machine form (EBIR002).
Status make_schedule_input(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                           ScheduleInput& out);

struct Schedule {
  std::vector<uint32_t> order;             // instructions as placed
  std::vector<machine::Ticks> start, end;  // by instruction
  std::vector<uint32_t> queue;             // by instruction, DMA only
  machine::Ticks makespan = 0;
};

enum class Priority : uint8_t { EmissionOrder, CoarseHeight, Height };

Schedule schedule(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                  const ScheduleInput& input, Priority priority);

/// Sets (as bits) whose load makes the function of an Activation resident; 0 when it needs none.
uint64_t table_sets_for(const bir::Instruction& inst);

}  // namespace ncc::walrus
