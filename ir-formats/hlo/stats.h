// What a module holds and costs, counted from its shapes: `hlo-opt --emit=stats`, a first look at a model.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

struct OpStats {
  int64_t count = 0;    // instructions, each where it stands
  double elements = 0;  // of their results
  double flops = 0;  // 2 for a multiply and add of a contraction; else 1 for each element computed or reduced
};

struct ModuleStats {
  int64_t computations = 0, instructions = 0;
  double parameter_bytes = 0, result_bytes = 0;  // of the entry
  double constant_bytes = 0;                     // in all computations
  double moved_bytes = 0;              // operands and results of every op that computes or moves, unfused
  int64_t unknown_loops = 0;           // loops whose trip count is not constant: their bodies count once
  std::map<std::string, OpStats> ops;  // by opcode name
  double flops() const;
};

/// flops and moved bytes count a called computation once for each call, a loop's body once for each trip
/// where the count is constant, a conditional's dearest branch.
ModuleStats stats(const Module& module);
/// The same as text: totals, then the ops by falling flops and counts.
std::string print_stats(const Module& module);

/// Trips of a loop that counts a state element from a constant, by a constant, to a constant; -1 when it is
/// none.
int64_t constant_trip_count(const Instruction& loop);

}  // namespace ncc::hlo
