// A reshape reaches this pass as an access with several terms on one dim, e.g. 4*a + b on a dim of 24
// elements (a: 6, b: 4). Such a dim is split at each coefficient (24 -> 6 x 4); every other access to that
// dim must then split as well: terms whose coefficient is a multiple of the factor go to the outer dim, the
// rest to the inner one, and an axis that spans both is itself split, which may give other dims several
// terms. The work list ends because each split makes an extent smaller.
#include "tools/hlo-opt/passes/factor_axes.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace ncc::hlo_opt {
namespace {

using namespace penguin;

struct Use {
  Inst* inst;
  Operand* operand;
};

class AxisFactoring {
 public:
  explicit AxisFactoring(Module& module)
      : module_(module), function_(module.main()), context_(*module.affine) {}

  void run() {
    collect();
    for (TensorId id = 0; id < function_.tensors.size(); ++id) queue_.insert(id);
    while (!queue_.empty()) {
      const TensorId id = *queue_.begin();
      queue_.erase(queue_.begin());
      if (is_candidate(id)) factor_tensor(id);
    }
  }

 private:
  bool is_candidate(TensorId id) const {
    const Tensor& tensor = function_.tensors[id];
    return tensor.role == Role::Internal && tensor.space != Space::Dram && tensor.alias_of == kNone &&
           !viewed_.contains(id);
  }

  void collect() {
    uses_.resize(function_.tensors.size());
    for (const Tensor& tensor : function_.tensors)
      if (tensor.alias_of != kNone) viewed_.insert(tensor.alias_of);
    for (Stmt& stmt : function_.body) {
      NCC_CHECK(stmt.kind == Stmt::Kind::Inst, "factor_axes runs before loops exist");
      Inst& inst = *stmt.inst;
      for (Operand& operand : inst.operands)
        if (operand.kind == Operand::Kind::Tensor) uses_[operand.tensor].push_back({&inst, &operand});
      uses_[inst.result.tensor].push_back({&inst, &inst.result});
    }
  }

  int64_t extent(AxisId axis) const { return function_.axes[axis].extent; }

  // The factor at which a dim must be split for this expression to become single-term; 0 when it already is,
  // -1 when impossible.
  int64_t needed_factor(Ref expr) const {
    if (expr->terms.size() <= 1) return 0;
    int64_t smallest = -1;
    for (const affine::Term& term : expr->terms)
      if (smallest < 0 || std::abs(term.coef) < smallest) smallest = std::abs(term.coef);
    int64_t factor = -1;
    for (const affine::Term& term : expr->terms) {
      const int64_t coef = std::abs(term.coef);
      if (coef > smallest && (factor < 0 || coef < factor)) factor = coef;
    }
    return factor;
  }

  void factor_tensor(TensorId id) {
    for (size_t dim = 0; dim < function_.tensors[id].shape.size(); ++dim) {
      for (const Use& use : uses_[id]) {
        const int64_t factor = needed_factor(use.operand->index[dim]);
        if (factor == 0) continue;
        if (factor < 0 || !split_dim(id, dim, factor)) {
          function_.tensors[id].space = Space::Dram;
          return;
        }
        queue_.insert(id);
        return;
      }
    }
  }

  // Whether every use can follow a split of `dim` at `inner`; collects the axis splits that it takes.
  bool plan_split(TensorId id, size_t dim, int64_t inner,
                  std::map<std::pair<Inst*, AxisId>, int64_t>& axis_splits) const {
    if (function_.tensors[id].shape[dim] % inner != 0) return false;
    for (const Use& use : uses_[id]) {
      const Ref expr = use.operand->index[dim];
      int64_t low = floor_mod(expr->constant, inner), high = low;
      for (const affine::Term& term : expr->terms) {
        if (term.coef % inner == 0) continue;
        const int64_t reach = term.coef * (extent(term.axis) - 1);
        // An axis that runs across the cut: it may only do so in unit steps from a multiple of the factor.
        if (term.coef == 1 && extent(term.axis) > inner && extent(term.axis) % inner == 0) {
          const auto [entry, fresh] = axis_splits.try_emplace({use.inst, term.axis}, inner);
          if (!fresh && entry->second != inner) return false;
          high += inner - 1;
          continue;
        }
        (reach < 0 ? low : high) += reach;
      }
      if (low < 0 || high >= inner) return false;
    }
    return true;
  }

  bool split_dim(TensorId id, size_t dim, int64_t inner) {
    std::map<std::pair<Inst*, AxisId>, int64_t> axis_splits;
    if (!plan_split(id, dim, inner, axis_splits)) return false;
    for (const auto& [where, factor] : axis_splits) split_axis(*where.first, where.second, factor);
    Tensor& tensor = function_.tensors[id];
    tensor.shape[dim] /= inner;
    tensor.shape.insert(tensor.shape.begin() + static_cast<int64_t>(dim) + 1, inner);
    for (const Use& use : uses_[id]) {
      std::vector<Ref>& index = use.operand->index;
      const Ref expr = index[dim];
      std::vector<affine::Term> outer_terms, inner_terms;
      for (const affine::Term& term : expr->terms) {
        if (term.coef % inner == 0)
          outer_terms.push_back({term.axis, term.coef / inner});
        else
          inner_terms.push_back(term);
      }
      const int64_t rest = floor_mod(expr->constant, inner);
      index[dim] = context_.make((expr->constant - rest) / inner, std::move(outer_terms));
      index.insert(index.begin() + static_cast<int64_t>(dim) + 1,
                   context_.make(rest, std::move(inner_terms)));
    }
    return true;
  }

  // axis -> inner * outer_axis + inner_axis, in this Inst alone (axes are private to their Inst).
  void split_axis(Inst& inst, AxisId axis, int64_t inner) {
    const AxisId inner_axis = static_cast<AxisId>(function_.axes.size());
    function_.axes.push_back({function_.axes[axis].name + ".i", inner});
    const AxisId outer_axis = static_cast<AxisId>(function_.axes.size());
    function_.axes.push_back({function_.axes[axis].name + ".o", extent(axis) / inner});
    for (size_t i = 0; i < inst.axes.size(); ++i) {
      if (inst.axes[i].axis != axis) continue;
      const AxisRole role = inst.axes[i].role;
      inst.axes[i] = {outer_axis, role};
      inst.axes.insert(inst.axes.begin() + static_cast<int64_t>(i) + 1, {inner_axis, role});
      break;
    }
    const std::unordered_map<AxisId, Ref> replacement = {
        {axis, context_.add(context_.axis(outer_axis, inner), context_.axis(inner_axis))}};
    const auto rewrite = [&](Operand& operand) {
      for (Ref& expr : operand.index) expr = context_.substitute(expr, replacement);
      if (operand.value != nullptr) operand.value = context_.substitute(operand.value, replacement);
      if (operand.kind == Operand::Kind::Tensor) queue_.insert(operand.tensor);
    };
    for (Operand& operand : inst.operands) rewrite(operand);
    rewrite(inst.result);
  }

  static int64_t floor_mod(int64_t value, int64_t divisor) {
    const int64_t rest = value % divisor;
    return rest < 0 ? rest + divisor : rest;
  }

  Module& module_;
  Function& function_;
  affine::Context& context_;
  std::vector<std::vector<Use>> uses_;
  std::set<TensorId> queue_;
  std::set<TensorId> viewed_;  // tensors with views: their shape is fixed by the view
};

}  // namespace

Status factor_axes(Module& module) {
  AxisFactoring(module).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
