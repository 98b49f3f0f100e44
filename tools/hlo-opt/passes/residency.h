// residency: which tensors stay in SBUF between clusters, and which must go through DRAM.
#pragma once
#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

/// Bytes per partition of an on-chip tensor held whole, in its planned layout.
int64_t resident_bytes(const penguin::Function& function, const Plan& plan, penguin::TensorId id);

/// Runs after cluster. Where the tensors that outlive their cluster, together with a cluster's own tiles and
/// operand panels, exceed the SBUF of a partition less a reserve, moves tensors to DRAM (the one not needed
/// for longest first, then the largest) and forms the clusters again. A tensor that no choice makes fit is
/// EOOM001.
Status assign_residency(const penguin::Module& module, const ArchModel& arch, Plan& plan);

}  // namespace ncc::hlo_opt
