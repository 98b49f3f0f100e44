// layout: which axis of every instruction and dim of every on-chip tensor goes to the partitions.
#pragma once
#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

/// Fills Plan::tensors and Plan::insts (partition, contract, lhs_stationary). Cost = estimated ns of each
/// instruction in its layout plus loads, transposes and DRAM bounces on its operands. Deterministic local
/// search over groups of aligned instructions.
Status choose_layout(const penguin::Module& module, const ArchModel& arch, Plan& plan);

}  // namespace ncc::hlo_opt
