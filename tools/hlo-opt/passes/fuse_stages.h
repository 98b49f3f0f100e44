// fuse_stages: folds single-use arithmetic into the instruction that reads it.
#pragma once
#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

/// Marks Maps whose work their only reader can do in the same instruction, and records it in that reader's
/// InstPlan::stages:
///   activation            f(x * scale + bias), scale and bias scalars or one fp32 value per partition
///   tensor_scalar         op1(op0(x, s0), s1)
///   scalar_tensor_tensor  op1(op0(x, s0), y)
///   sum of an activation   its accumulator, when the sum runs over all that it writes per partition
/// Only fp32 intermediates are skipped, so no rounding changes. Runs after cluster.
Status fuse_stages(const penguin::Module& module, const ArchModel& arch, Plan& plan);

}  // namespace ncc::hlo_opt
