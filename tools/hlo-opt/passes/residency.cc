#include "tools/hlo-opt/passes/residency.h"

#include <algorithm>

#include "tools/hlo-opt/passes/cluster.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

// Left to constants, identities and address alignment.
constexpr int64_t kReserveShare = 16;

struct Lifetime {
  TensorId id;
  uint32_t first, last;  // clusters
  int64_t bytes;
};

class Residency {
 public:
  Residency(const Module& module, const ArchModel& arch, Plan& plan)
      : function_(module.main()), arch_(arch), plan_(plan) {}

  // The tensor to move out; kNone when everything fits.
  TensorId find_victim() {
    measure();
    const int64_t capacity = arch_.sbuf_bytes_per_partition - arch_.sbuf_bytes_per_partition / kReserveShare;
    for (uint32_t cluster = 0; cluster < plan_.clusters.size(); ++cluster) {
      int64_t held = own_bytes_[cluster];
      for (const Lifetime& life : lifetimes_)
        if (life.first <= cluster && cluster <= life.last) held += life.bytes;
      if (held <= capacity) continue;
      const Lifetime* victim = nullptr;
      uint32_t victim_distance = 0;
      for (const Lifetime& life : lifetimes_) {
        if (life.first > cluster || cluster > life.last) continue;
        const uint32_t distance = next_use(life.id, cluster) - cluster;
        if (victim == nullptr || distance > victim_distance ||
            (distance == victim_distance && life.bytes > victim->bytes)) {
          victim = &life;
          victim_distance = distance;
        }
      }
      if (victim != nullptr) return victim->id;
    }
    return kNone;
  }

 private:
  const Inst& inst(uint32_t i) const { return *function_.body[i].inst; }

  uint32_t next_use(TensorId id, uint32_t after) const {
    uint32_t next = static_cast<uint32_t>(plan_.clusters.size());
    for (uint32_t consumer : plan_.tensors[id].consumers)
      if (plan_.insts[consumer].cluster >= after) next = std::min(next, plan_.insts[consumer].cluster);
    return next;
  }

  void measure() {
    lifetimes_.clear();
    own_bytes_.assign(plan_.clusters.size(), 0);
    for (TensorId id = 0; id < plan_.tensors.size(); ++id) {
      const TensorPlan& tensor = plan_.tensors[id];
      if (!tensor.on_chip || tensor.producers.empty()) continue;
      Lifetime life{id, UINT32_MAX, 0, resident_bytes(function_, plan_, id)};
      for (uint32_t producer : tensor.producers)
        life.first = std::min(life.first, plan_.insts[producer].cluster);
      for (uint32_t producer : tensor.producers)
        life.last = std::max(life.last, plan_.insts[producer].cluster);
      for (uint32_t consumer : tensor.consumers)
        life.last = std::max(life.last, plan_.insts[consumer].cluster);
      if (life.first == life.last) {
        const int64_t blocks =
            tensor.partition_dim < 0
                ? 1
                : partition_split(function_.tensors[id].shape[tensor.partition_dim]).blocks();
        own_bytes_[life.first] += life.bytes / blocks;
      } else {
        lifetimes_.push_back(life);
      }
    }
    // A cluster's own tiles are cut into chunks when large, and its panels likewise (tile/lowering.cc).
    for (int64_t& bytes : own_bytes_) bytes = std::min(bytes, arch_.sbuf_bytes_per_partition / 4);
    for (uint32_t i = 0; i < plan_.insts.size(); ++i) {
      if (inst(i).op != TensorOp::Contract) continue;
      int64_t panel = 0;
      for (int k = 0; k < 2; ++k) {
        const Operand& operand = inst(i).operands[k];
        if (operand.kind != Operand::Kind::Tensor || plan_.tensors[operand.tensor].on_chip) continue;
        if ((k == 0) == plan_.insts[i].lhs_stationary) continue;
        int64_t elements = 1;
        const AxisRole other = k == 0 ? AxisRole::RhsFree : AxisRole::LhsFree;
        for (const IterationAxis& entry : inst(i).axes) {
          const int64_t extent = function_.axes[entry.axis].extent;
          if (entry.role == other) continue;
          elements *= entry.axis == plan_.insts[i].contract ? partition_split(extent).blocks() : extent;
        }
        panel += elements * size_bytes(operand.dtype);
      }
      own_bytes_[plan_.insts[i].cluster] += std::min(panel, arch_.sbuf_bytes_per_partition / 2);
    }
  }

  const Function& function_;
  const ArchModel& arch_;
  Plan& plan_;
  std::vector<Lifetime> lifetimes_;
  std::vector<int64_t> own_bytes_;
};

}  // namespace

int64_t resident_bytes(const Function& function, const Plan& plan, TensorId id) {
  const Tensor& tensor = function.tensors[id];
  const int held = plan.tensors[id].partition_dim;
  int64_t elements = 1;
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim)
    elements *=
        static_cast<int>(dim) == held ? partition_split(tensor.shape[dim]).blocks() : tensor.shape[dim];
  return elements * size_bytes(tensor.dtype);
}

Status assign_residency(const Module& module, const ArchModel& arch, Plan& plan) {
  Residency residency(module, arch, plan);
  for (TensorId victim = residency.find_victim(); victim != kNone; victim = residency.find_victim()) {
    plan.tensors[victim].on_chip = false;
    plan.tensors[victim].partition_dim = -1;
    NCC_TRY(form_clusters(module, plan));
  }
  return Status::ok();
}

}  // namespace ncc::hlo_opt
