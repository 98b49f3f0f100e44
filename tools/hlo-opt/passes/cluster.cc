#include "tools/hlo-opt/passes/cluster.h"

#include <algorithm>
#include <map>

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

class Clustering {
 public:
  Clustering(const Function& function, Plan& plan) : function_(function), plan_(plan) {}

  void run() {
    for (uint32_t i = 0; i < function_.body.size(); ++i) place(i);
  }

 private:
  const Inst& inst(uint32_t i) const { return *function_.body[i].inst; }

  // The first cluster that may hold instruction i: after every producer it cannot be aligned with.
  void place(uint32_t i) {
    const Inst& in = inst(i);
    const AxisId partition = plan_.insts[i].partition;
    const int64_t extent = partition == kNone ? 1 : function_.axes[partition].extent;
    int64_t earliest = 0, home = -1;
    for (const Operand& operand : in.operands) {
      if (operand.kind != Operand::Kind::Tensor) continue;
      const bool aligned = is_aligned(i, operand);
      for (uint32_t producer : plan_.tensors[operand.tensor].producers) {
        const int64_t cluster = plan_.insts[producer].cluster;
        earliest = std::max(earliest, aligned ? cluster : cluster + 1);
        if (aligned) home = std::max(home, cluster);
      }
    }
    if (home < earliest || plan_.clusters[home].partition_extent != extent) {
      home = static_cast<int64_t>(plan_.clusters.size());
      plan_.clusters.push_back({{}, extent});
    }
    plan_.insts[i].cluster = static_cast<uint32_t>(home);
    plan_.clusters[home].insts.push_back(i);
  }

  bool is_aligned(uint32_t i, const Operand& operand) const {
    const Inst& in = inst(i);
    const InstPlan& plan = plan_.insts[i];
    const TensorPlan& tensor = plan_.tensors[operand.tensor];
    if (!tensor.on_chip) return false;
    if (in.op != TensorOp::Contract)
      return classify_edge(function_, plan_, operand, plan.partition) == EdgeKind::Aligned;
    // A contraction's stationary operand may come from the same block when the block's partition axis is the
    // result's.
    const Operand& stationary = in.operands[plan.lhs_stationary ? 0 : 1];
    if (&stationary != &operand || plan.partition == kNone) return false;
    if (classify_edge(function_, plan_, operand, plan.contract) != EdgeKind::Transpose ||
        tensor.partition_dim < 0)
      return false;
    return is_plain(function_, operand.index[tensor.partition_dim],
                    function_.tensors[operand.tensor].shape[tensor.partition_dim], plan.partition);
  }

  const Function& function_;
  Plan& plan_;
};

}  // namespace

Status form_clusters(const Module& module, Plan& plan) {
  plan.clusters.clear();
  Clustering(module.main(), plan).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
