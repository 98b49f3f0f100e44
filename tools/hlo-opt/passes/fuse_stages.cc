#include "tools/hlo-opt/passes/fuse_stages.h"

#include <algorithm>
#include <unordered_map>

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

class StageFusion {
 public:
  StageFusion(const Module& module, Plan& plan)
      : function_(module.main()), context_(*module.affine), plan_(plan) {}

  void run() {
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      const Inst& in = inst(i);
      if (in.op != TensorOp::Map) continue;
      if (in.function == ScalarFunction::Activation)
        fuse_into_activation(i);
      else if (in.function == ScalarFunction::Alu)
        fuse_into_alu(i);
    }
    for (uint32_t i = 0; i < function_.body.size(); ++i)
      if (inst(i).op == TensorOp::Reduce) fuse_sum(i);
  }

 private:
  const Inst& inst(uint32_t i) const { return *function_.body[i].inst; }

  // A producer that may vanish into reader i, reached through `operand`; its operands then read in terms of
  // i's axes.
  const Inst* absorbable(uint32_t i, const Operand& operand, uint32_t& position) const {
    if (operand.kind != Operand::Kind::Tensor) return nullptr;
    const Tensor& tensor = function_.tensors[operand.tensor];
    const TensorPlan& tensor_plan = plan_.tensors[operand.tensor];
    if (!tensor_plan.on_chip || tensor.role != Role::Internal || tensor.dtype != Dtype::F32) return nullptr;
    if (tensor_plan.producers.size() != 1 || tensor_plan.consumers.size() != 1) return nullptr;
    position = tensor_plan.producers.front();
    const Inst& producer = inst(position);
    if (producer.op != TensorOp::Map || producer.function != ScalarFunction::Alu ||
        plan_.insts[position].absorbed)
      return nullptr;
    if (!plan_.insts[position].stages.empty() || plan_.insts[position].cluster != plan_.insts[i].cluster)
      return nullptr;
    if (isa::info(producer.attributes.alu).domain == isa::AluDomain::Bits || producer.operands.size() != 2)
      return nullptr;
    if (producer.axes.size() != inst(i).axes.size()) return nullptr;
    int uses = 0;
    for (const Operand& other : inst(i).operands)
      uses += other.kind == Operand::Kind::Tensor && other.tensor == operand.tensor;
    return uses == 1 ? &producer : nullptr;
  }

  // producer axis -> reader axis through the tensor between them; empty when the accesses are not plain on
  // both sides.
  std::unordered_map<AxisId, Ref> axis_map(const Inst& producer, const Operand& read) const {
    std::unordered_map<AxisId, Ref> map;
    const std::vector<int64_t>& shape = function_.tensors[read.tensor].shape;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const Ref from = producer.result.index[dim], to = read.index[dim];
      if (shape[dim] == 1 && from->is_constant() && to->is_constant()) continue;
      if (from->terms.size() != 1 || to->terms.size() != 1 ||
          !is_plain(function_, from, shape[dim], from->terms[0].axis) ||
          !is_plain(function_, to, shape[dim], to->terms[0].axis))
        return {};
      map[from->terms[0].axis] = context_.axis(to->terms[0].axis);
    }
    return map.size() == producer.axes.size() ? map : std::unordered_map<AxisId, Ref>{};
  }

  Operand rebased(const Operand& operand, const std::unordered_map<AxisId, Ref>& map) const {
    Operand moved = operand;
    for (Ref& expr : moved.index) expr = context_.substitute(expr, map);
    if (moved.value != nullptr) moved.value = context_.substitute(moved.value, map);
    return moved;
  }

  // A constant, or an fp32 tensor that moves with the partition axis alone.
  bool is_scalar_like(uint32_t i, const Operand& operand) const {
    if (operand.kind == Operand::Kind::Scalar) return true;
    if (operand.kind != Operand::Kind::Tensor || function_.tensors[operand.tensor].dtype != Dtype::F32)
      return false;
    for (const Ref expr : operand.index)
      for (const affine::Term& term : expr->terms)
        if (term.axis != plan_.insts[i].partition) return false;
    return true;
  }

  bool from_contract(const Operand& operand) const {
    if (operand.kind != Operand::Kind::Tensor) return false;
    const TensorPlan& tensor = plan_.tensors[operand.tensor];
    return !tensor.producers.empty() && inst(tensor.producers.front()).op == TensorOp::Contract;
  }

  // The scalar-like operand of an absorbable producer and the data it applies to, both over i's axes.
  struct Found {
    uint32_t position = 0;
    isa::AluOp op = isa::AluOp::Bypass;
    bool reversed = false;
    Operand data, scalar;
  };
  bool find_stage(uint32_t i, const Operand& operand, Found& found) const {
    const Inst* producer = absorbable(i, operand, found.position);
    if (producer == nullptr) return false;
    const auto map = axis_map(*producer, operand);
    if (map.empty() && !producer->axes.empty()) return false;
    for (int k : {1, 0}) {
      const Operand scalar = rebased(producer->operands[k], map),
                    data = rebased(producer->operands[1 - k], map);
      if (!is_scalar_like(i, scalar) || data.kind == Operand::Kind::Scalar || is_scalar_like(i, data))
        continue;
      found.op = producer->attributes.alu;
      found.reversed = k == 0;
      found.scalar = scalar;
      found.data = data;
      return true;
    }
    return false;
  }

  void absorb(uint32_t i, int operand, const Found& found) {
    InstPlan& plan = plan_.insts[i];
    plan_.insts[found.position].absorbed = true;
    plan.staged_operand = operand;
    plan.staged_data = found.data;
    plan.stages.insert(plan.stages.begin(), {found.op, found.reversed, found.scalar});
  }

  void fuse_into_alu(uint32_t i) {
    const Inst& in = inst(i);
    if (in.operands.size() != 2 || isa::info(in.attributes.alu).arity != 2) return;
    if (isa::info(in.attributes.alu).domain == isa::AluDomain::Bits) return;
    for (int k = 0; k < 2; ++k) {
      Found found;
      if (!find_stage(i, in.operands[k], found)) continue;
      if (from_contract(found.data) && from_contract(in.operands[1 - k]))
        continue;  // one PSUM operand at most
      absorb(i, k, found);
      return;
    }
  }

  void fuse_into_activation(uint32_t i) {
    const Inst& in = inst(i);
    Found outer;
    if (!find_stage(i, in.operands[0], outer)) return;
    if (outer.op == isa::AluOp::Mult) {
      absorb(i, 0, outer);
      return;
    }
    const bool adds = outer.op == isa::AluOp::Add;
    // x - c is x + (-c); a per-partition c costs one more instruction of a single element per partition.
    const bool subtracts = outer.op == isa::AluOp::Subtract && !outer.reversed;
    if (!adds && !subtracts) return;
    absorb(i, 0, outer);
    Found inner;
    if (find_stage(i, outer.data, inner) && inner.op == isa::AluOp::Mult) absorb(i, 0, inner);
  }

  // A sum over everything that an activation writes per partition falls out of its accumulator.
  void fuse_sum(uint32_t i) {
    const Inst& in = inst(i);
    const Operand& read = in.operands[0];
    if (in.function != ScalarFunction::Add || read.kind != Operand::Kind::Tensor) return;
    if (function_.tensors[in.result.tensor].dtype != Dtype::F32) return;
    const TensorPlan& data = plan_.tensors[read.tensor];
    if (!data.on_chip || data.producers.size() != 1 || function_.tensors[read.tensor].dtype != Dtype::F32)
      return;
    const uint32_t position = data.producers.front();
    const Inst& producer = inst(position);
    if (producer.op != TensorOp::Map || producer.function != ScalarFunction::Activation) return;
    InstPlan& plan = plan_.insts[position];
    if (plan.absorbed || plan.accumulated_by >= 0 || plan.cluster != plan_.insts[i].cluster) return;
    // More free axes than an instruction's pattern holds would become several instructions, each with its own
    // sum.
    constexpr size_t kMaxAxes = 3;
    if (producer.axes.size() != in.axes.size() || in.axes.size() > kMaxAxes) return;
    const auto map = axis_map(producer, read);
    if (map.empty()) return;
    for (const IterationAxis& entry : in.axes)
      if ((entry.role == AxisRole::Reduce) == (entry.axis == plan_.insts[i].partition)) return;
    plan.accumulated_by = static_cast<int>(i);
    plan_.insts[i].absorbed = true;
  }

  const Function& function_;
  affine::Context& context_;
  Plan& plan_;
};

}  // namespace

Status fuse_stages(const Module& module, const ArchModel&, Plan& plan) {
  StageFusion(module, plan).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
