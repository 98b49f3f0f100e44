#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

using namespace penguin;

PartitionSplit partition_split(int64_t extent, int64_t max_lanes) {
  if (extent <= max_lanes) return {extent, 1, 0};
  // A divisor of at least three quarters of the lanes avoids a peeled block at little cost.
  for (int64_t lanes = max_lanes; lanes * 4 >= max_lanes * 3; --lanes)
    if (extent % lanes == 0) return {lanes, extent / lanes, 0};
  return {max_lanes, extent / max_lanes, extent % max_lanes};
}

bool is_plain(const Function& function, Ref expr, int64_t dim_extent, AxisId axis) {
  return expr->constant == 0 && expr->terms.size() == 1 && expr->terms[0].axis == axis &&
         expr->terms[0].coef == 1 && function.axes[axis].extent == dim_extent;
}

EdgeKind classify_edge(const Function& function, const Plan& plan, const Operand& operand, AxisId axis) {
  const TensorPlan& tensor_plan = plan.tensors[operand.tensor];
  const Tensor& tensor = function.tensors[operand.tensor];
  if (!tensor_plan.on_chip) return EdgeKind::Load;
  const int held = tensor_plan.partition_dim;
  if (axis == kNone || function.axes[axis].extent == 1) {
    // A consumer on one partition: its operand must live on one partition too.
    if (held < 0 || tensor.shape[held] == 1) return EdgeKind::Aligned;
    return EdgeKind::Transpose;
  }
  int where = -1;
  for (size_t dim = 0; dim < operand.index.size(); ++dim) {
    if (operand.index[dim]->coef(axis) == 0) continue;
    if (where >= 0 || !is_plain(function, operand.index[dim], tensor.shape[dim], axis))
      return EdgeKind::Bounce;
    where = static_cast<int>(dim);
  }
  if (where < 0) return EdgeKind::Replicate;
  return where == held ? EdgeKind::Aligned : EdgeKind::Transpose;
}

}  // namespace ncc::hlo_opt
