// Layout as a local search over groups.
//
// A group is a set of instructions joined by the on-chip tensors between them (the operands of a Contract do
// not join: a contraction wants its operands by the contracted axis, whatever its result looks like). Within
// a group, axes that stand for the same dim form a class. The search gives each group one class for its
// partitions; an instruction without that class takes its own best axis. Cost of a choice: the group's
// instructions, the edges into them, and the edges out of them. Groups are revisited until nothing improves.
// The search proposes; correctness never depends on it, because every edge is classified from the accesses
// themselves.
#include "tools/hlo-opt/passes/layout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ncc::hlo_opt {
namespace {

using namespace penguin;

// Planning constants, ns; their only use is to rank choices.
constexpr double kInstructionNs = 60;      // fixed share of one more instruction
constexpr double kTransposeBlockNs = 120;  // one PE block and its share of the eviction
constexpr double kBounceNs = 4000;         // two dependent DMA latencies and their synchronisation

class UnionFind {
 public:
  explicit UnionFind(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t find(uint32_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void join(uint32_t a, uint32_t b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

 private:
  std::vector<uint32_t> parent_;
};

class LayoutSearch {
 public:
  LayoutSearch(const Module& module, const ArchModel& arch, Plan& plan)
      : function_(module.main()), arch_(arch), plan_(plan), groups_(function_.body.size()), classes_(0) {}

  void run() {
    collect();
    form_groups();
    for (uint32_t i = 0; i < function_.body.size(); ++i) assign(i, best_own_axis(inst(i)));
    settle_tensors();
    std::map<uint32_t, std::vector<uint32_t>> members;
    for (uint32_t i = 0; i < function_.body.size(); ++i) members[groups_.find(i)].push_back(i);
    constexpr int kMaxSweeps = 4;
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool changed = false;
      for (const auto& [group, insts] : members) changed |= improve(insts);
      if (!changed) break;
    }
  }

 private:
  const Inst& inst(uint32_t i) const { return *function_.body[i].inst; }
  int64_t extent(AxisId axis) const { return axis == kNone ? 1 : function_.axes[axis].extent; }

  void collect() {
    plan_.tensors.assign(function_.tensors.size(), {});
    plan_.insts.assign(function_.body.size(), {});
    for (TensorId id = 0; id < function_.tensors.size(); ++id) {
      const Tensor& tensor = function_.tensors[id];
      plan_.tensors[id].on_chip =
          (tensor.role == Role::Internal || tensor.role == Role::Output) && tensor.space != Space::Dram;
    }
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      plan_.tensors[inst(i).result.tensor].producers.push_back(i);
      for (const Operand& operand : inst(i).operands) {
        if (operand.kind != Operand::Kind::Tensor) continue;
        std::vector<uint32_t>& consumers = plan_.tensors[operand.tensor].consumers;
        if (consumers.empty() || consumers.back() != i) consumers.push_back(i);
      }
    }
    // A view and the tensor it views are one DRAM object.
    for (TensorId id = 0; id < function_.tensors.size(); ++id) {
      const TensorId viewed = function_.tensors[id].alias_of;
      if (viewed == kNone) continue;
      TensorPlan &view = plan_.tensors[id], &base = plan_.tensors[viewed];
      view.on_chip = base.on_chip = false;
      view.producers = base.producers;
      base.consumers.insert(base.consumers.end(), view.consumers.begin(), view.consumers.end());
    }
    for (TensorPlan& tensor : plan_.tensors)
      if (tensor.consumers.empty()) tensor.on_chip = false;  // only stored
    wanted_on_chip_.resize(plan_.tensors.size());
    for (size_t id = 0; id < plan_.tensors.size(); ++id) wanted_on_chip_[id] = plan_.tensors[id].on_chip;
  }

  void form_groups() {
    // Class nodes: all axes, then all (tensor, dim) pairs.
    dim_node_.resize(function_.tensors.size());
    uint32_t next = static_cast<uint32_t>(function_.axes.size());
    for (TensorId id = 0; id < function_.tensors.size(); ++id) {
      dim_node_[id] = next;
      next += static_cast<uint32_t>(function_.tensors[id].shape.size());
    }
    classes_ = UnionFind(next);
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      join_access(inst(i).result, i, true);
      if (inst(i).op == TensorOp::Contract) continue;
      for (const Operand& operand : inst(i).operands)
        if (operand.kind == Operand::Kind::Tensor) join_access(operand, i, false);
    }
  }

  void join_access(const Operand& access, uint32_t i, bool is_result) {
    const TensorPlan& tensor = plan_.tensors[access.tensor];
    if (!tensor.on_chip) return;
    for (size_t dim = 0; dim < access.index.size(); ++dim) {
      const Ref expr = access.index[dim];
      if (expr->terms.size() == 1 &&
          is_plain(function_, expr, function_.tensors[access.tensor].shape[dim], expr->terms[0].axis))
        classes_.join(expr->terms[0].axis, dim_node_[access.tensor] + static_cast<uint32_t>(dim));
    }
    if (!is_result)
      for (uint32_t producer : tensor.producers) groups_.join(i, producer);
  }

  bool may_be_partition(const Inst& in, const IterationAxis& axis) const {
    if (extent(axis.axis) == 1) return false;
    if (axis.role == AxisRole::Reduce || axis.role == AxisRole::Contract) return false;
    if (in.op == TensorOp::Contract) return axis.role == AxisRole::LhsFree || axis.role == AxisRole::RhsFree;
    return true;
  }

  AxisId best_own_axis(const Inst& in) const {
    AxisId best = kNone;
    int64_t best_lanes = 0;
    for (const IterationAxis& axis : in.axes) {
      if (!may_be_partition(in, axis)) continue;
      const int64_t lanes = partition_split(extent(axis.axis)).lanes;
      if (lanes > best_lanes) {
        best = axis.axis;
        best_lanes = lanes;
      }
    }
    return best;
  }

  AxisId axis_of_class(const Inst& in, uint32_t cls) {
    for (const IterationAxis& axis : in.axes)
      if (may_be_partition(in, axis) && classes_.find(axis.axis) == cls) return axis.axis;
    return kNone;
  }

  void assign(uint32_t i, AxisId partition) {
    InstPlan& plan = plan_.insts[i];
    plan.partition = partition;
    if (inst(i).op != TensorOp::Contract) return;
    if (partition != kNone) plan.lhs_stationary = inst(i).role(partition) == AxisRole::LhsFree;
  }

  // Tensor layouts follow from their producers; a tensor whose producers disagree, or that is written off its
  // partition axis, lives in DRAM.
  void settle_tensor(TensorId id) {
    TensorPlan& tensor = plan_.tensors[id];
    tensor.on_chip = wanted_on_chip_[id];
    tensor.partition_dim = -1;
    if (!tensor.on_chip) return;
    for (size_t k = 0; k < tensor.producers.size(); ++k) {
      const Inst& producer = inst(tensor.producers[k]);
      const AxisId partition = plan_.insts[tensor.producers[k]].partition;
      int held = -1;
      if (partition != kNone) {
        for (size_t dim = 0; dim < producer.result.index.size(); ++dim)
          if (is_plain(function_, producer.result.index[dim], function_.tensors[id].shape[dim], partition))
            held = static_cast<int>(dim);
        if (held < 0) tensor.on_chip = false;
      }
      if (k > 0 && held != tensor.partition_dim) tensor.on_chip = false;
      if (k == 0) tensor.partition_dim = held;
    }
  }
  void settle_tensors() {
    for (TensorId id = 0; id < plan_.tensors.size(); ++id) settle_tensor(id);
    for (uint32_t i = 0; i < function_.body.size(); ++i)
      if (inst(i).op == TensorOp::Contract) choose_contract_axis(i);
  }

  // A transfer between DRAM and a tile with `partition` on partitions; a load may come in natural order and
  // be exchanged (tile/operands.cc).
  double transfer_cost(const Operand& operand, AxisId partition) const {
    const Tensor& tensor = function_.tensors[operand.tensor];
    const double element = static_cast<double>(size_bytes(tensor.dtype));
    // The contiguous run of a DMA: the innermost dim when a free axis walks it with step 1.
    int64_t stride = 1;
    double run = 1, total = 1;
    bool lanes_contiguous = false;
    for (size_t dim = operand.index.size(); dim-- > 0;) {
      for (const affine::Term& term : operand.index[dim]->terms) {
        total *= static_cast<double>(extent(term.axis));
        lanes_contiguous |= term.axis == partition && std::abs(term.coef * stride) == 1;
        if (term.coef * stride == static_cast<int64_t>(run) && term.axis != partition)
          run *= static_cast<double>(extent(term.axis));
      }
      stride *= tensor.shape[dim];
    }
    const double rate = static_cast<double>(arch_.dma_engines * arch_.dma_bytes_per_ns);
    const double direct = total / run * std::max(run * element, 512.0) / rate;
    if (!lanes_contiguous || element < 2) return direct;
    const double exchanged = total * element / rate + total / (128 * 128) * kTransposeBlockNs;
    return std::min(direct, exchanged);
  }

  double edge_cost(const Operand& operand, AxisId axis) const {
    const Tensor& tensor = function_.tensors[operand.tensor];
    const double elements = static_cast<double>(tensor.num_elements());
    switch (classify_edge(function_, plan_, operand, axis)) {
      case EdgeKind::Load:
        return transfer_cost(operand, axis);
      case EdgeKind::Aligned:
        return 0;
      case EdgeKind::Transpose: {
        const int held = plan_.tensors[operand.tensor].partition_dim;
        const double from = held < 0 ? 1 : static_cast<double>(partition_split(tensor.shape[held]).lanes);
        const double to = static_cast<double>(partition_split(extent(axis)).lanes);
        return elements / (from * to) * kTransposeBlockNs + kInstructionNs;
      }
      case EdgeKind::Replicate:
      case EdgeKind::Bounce:
        return kBounceNs + elements * 8.0;
    }
    return 0;
  }

  void choose_contract_axis(uint32_t i) {
    const Inst& in = inst(i);
    InstPlan& plan = plan_.insts[i];
    double best = 0;
    plan.contract = kNone;
    for (const IterationAxis& axis : in.axes) {
      if (axis.role != AxisRole::Contract) continue;
      const double loops = contract_cost(in, plan.partition, axis.axis);
      const double cost = loops + edge_cost(in.operands[0], axis.axis) + edge_cost(in.operands[1], axis.axis);
      if (plan.contract == kNone || cost < best) {
        plan.contract = axis.axis;
        best = cost;
      }
    }
  }

  double contract_cost(const Inst& in, AxisId partition, AxisId contract) const {
    const bool fp32 = size_bytes(in.operands[0].dtype) == 4;
    const bool lhs_stationary = partition == kNone || in.role(partition) == AxisRole::LhsFree;
    double moving = 1, loops = 1;
    for (const IterationAxis& axis : in.axes) {
      const double n = static_cast<double>(extent(axis.axis));
      const bool other_side = axis.role == (lhs_stationary ? AxisRole::RhsFree : AxisRole::LhsFree);
      if (axis.axis == partition || axis.axis == contract)
        loops *= static_cast<double>(partition_split(extent(axis.axis)).blocks());
      else if (other_side)
        moving *= n;
      else
        loops *= n;
    }
    const double cycles = std::max(64.0, moving) * (fp32 ? 4 : 1);
    return loops * cycles * arch_.pe_ticks / static_cast<double>(arch_.ticks_per_second) * 1e9 +
           loops * kInstructionNs / 4;
  }

  double inst_cost(uint32_t i) const {
    const Inst& in = inst(i);
    const InstPlan& plan = plan_.insts[i];
    double cost = 0;
    if (in.op == TensorOp::Contract) {
      cost = contract_cost(in, plan.partition, plan.contract);
      for (int k = 0; k < 2; ++k) cost += edge_cost(in.operands[k], plan.contract);
    } else {
      double points = 1;
      for (const IterationAxis& axis : in.axes) points *= static_cast<double>(extent(axis.axis));
      const PartitionSplit split = partition_split(extent(plan.partition));
      cost = points / static_cast<double>(split.lanes) * 1.0 +
             static_cast<double>(split.blocks()) * kInstructionNs;
      for (const Operand& operand : in.operands)
        if (operand.kind == Operand::Kind::Tensor) cost += edge_cost(operand, plan.partition);
    }
    const TensorPlan& result = plan_.tensors[in.result.tensor];
    if (function_.tensors[in.result.tensor].role == Role::Output)
      cost += transfer_cost(in.result, plan.partition);
    else if (!result.on_chip && !result.consumers.empty())
      cost += kBounceNs + transfer_cost(in.result, plan.partition);
    return cost;
  }

  // Cost of the group's instructions and of everything that reads their results.
  double neighbourhood_cost(const std::vector<uint32_t>& insts) {
    std::set<uint32_t> touched(insts.begin(), insts.end());
    for (uint32_t i : insts)
      for (uint32_t consumer : plan_.tensors[inst(i).result.tensor].consumers) touched.insert(consumer);
    double cost = 0;
    for (uint32_t i : touched) cost += inst_cost(i);
    return cost;
  }

  void apply(const std::vector<uint32_t>& insts, const std::vector<AxisId>& partitions) {
    for (size_t k = 0; k < insts.size(); ++k) assign(insts[k], partitions[k]);
    std::set<uint32_t> contracts;
    for (uint32_t i : insts) settle_tensor(inst(i).result.tensor);
    for (uint32_t i : insts) {
      if (inst(i).op == TensorOp::Contract) contracts.insert(i);
      for (uint32_t consumer : plan_.tensors[inst(i).result.tensor].consumers)
        if (inst(consumer).op == TensorOp::Contract) contracts.insert(consumer);
    }
    for (uint32_t i : contracts) choose_contract_axis(i);
  }

  bool improve(const std::vector<uint32_t>& insts) {
    // The classes that most of the group has; rarer ones could not place it anyway, and trying all would be
    // quadratic.
    constexpr size_t kMaxCandidates = 6;
    std::map<uint32_t, size_t> holders;
    for (uint32_t i : insts)
      for (const IterationAxis& axis : inst(i).axes)
        if (may_be_partition(inst(i), axis)) ++holders[classes_.find(axis.axis)];
    std::vector<std::pair<uint32_t, size_t>> candidates(holders.begin(), holders.end());
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (candidates.size() > kMaxCandidates) candidates.resize(kMaxCandidates);
    std::vector<AxisId> best(insts.size());
    for (size_t k = 0; k < insts.size(); ++k) best[k] = plan_.insts[insts[k]].partition;
    double best_cost = neighbourhood_cost(insts);
    bool changed = false;
    for (const auto& [cls, count] : candidates) {
      std::vector<AxisId> trial(insts.size());
      std::map<TensorId, int> held;  // partition dim that this trial gives each result
      for (size_t k = 0; k < insts.size(); ++k) {
        const Inst& in = inst(insts[k]);
        trial[k] = axis_of_class(in, cls);
        if (trial[k] == kNone) trial[k] = follow_operand(in, held);
        for (size_t dim = 0; trial[k] != kNone && dim < in.result.index.size(); ++dim)
          if (in.result.index[dim]->coef(trial[k]) != 0) held[in.result.tensor] = static_cast<int>(dim);
      }
      apply(insts, trial);
      const double cost = neighbourhood_cost(insts);
      if (cost < best_cost * 0.999) {
        best_cost = cost;
        best = trial;
        changed = true;
      }
    }
    apply(insts, best);
    return changed;
  }

  // An instruction without the group's class: keep the layout of an operand that the group already placed,
  // else its own best axis.
  AxisId follow_operand(const Inst& in, const std::map<TensorId, int>& held) const {
    if (in.op == TensorOp::Contract) return best_own_axis(in);
    for (const Operand& operand : in.operands) {
      if (operand.kind != Operand::Kind::Tensor) continue;
      const auto found = held.find(operand.tensor);
      if (found == held.end()) continue;
      const int64_t dim_extent = function_.tensors[operand.tensor].shape[found->second];
      for (const IterationAxis& axis : in.axes)
        if (may_be_partition(in, axis) &&
            is_plain(function_, operand.index[found->second], dim_extent, axis.axis))
          return axis.axis;
    }
    return best_own_axis(in);
  }

  const Function& function_;
  const ArchModel& arch_;
  Plan& plan_;
  UnionFind groups_;
  UnionFind classes_;
  std::vector<uint32_t> dim_node_;
  std::vector<bool> wanted_on_chip_;
};

}  // namespace

Status choose_layout(const Module& module, const ArchModel& arch, Plan& plan) {
  LayoutSearch(module, arch, plan).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
