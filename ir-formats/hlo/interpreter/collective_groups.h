// Which processes take part in a collective together, and their meeting. Source: spec/stablehlo-text.md
// §3.10.
#pragma once
#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

struct Meeting {
  std::vector<ProcessId> group;
  size_t position = 0;                       // of this process
  bool is_member = true;                     // false: the process is in no group of the collective
  std::vector<std::vector<Literal>> values;  // operands of every member, in the group's order
};

/// Finds this process's group and exchanges operands with it. Without a grid the process is alone; EVRF001
/// when the program then asks for more devices. ERUN003 when the members do not all come.
Result<Meeting> meet(Evaluator& evaluator, const Instruction& inst, const Operands& operands);

}  // namespace ncc::hlo
