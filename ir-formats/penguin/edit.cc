#include "ir-formats/penguin/edit.h"

#include <algorithm>

#include "ir-formats/penguin/verify.h"
#include "ir-formats/penguin/walk.h"

namespace ncc::penguin {
namespace {

/// Which tensors an output needs, from the last statement back.
std::vector<bool> live_tensors(const Function& function, std::vector<bool>& live_stmts) {
  std::vector<bool> live(function.tensors.size(), false);
  const auto mark = [&](TensorId id) {
    live[id] = true;
    if (function.tensors[id].alias_of != kNone) live[function.tensors[id].alias_of] = true;
  };
  for (TensorId id : function.inputs) mark(id);
  for (TensorId id : function.outputs) mark(id);
  for (size_t i = function.body.size(); i-- > 0;) {
    const Stmt& stmt = function.body[i];
    if (!stmt.inst || !live[stmt.inst->result.tensor]) continue;
    live_stmts[i] = true;
    for (const Operand& operand : stmt.inst->operands)
      if (operand.kind == Operand::Kind::Tensor) mark(operand.tensor);
  }
  return live;
}

class Renumber {
 public:
  Renumber(Function& function, affine::Context& affine, const std::vector<bool>& live)
      : function_(function), affine_(affine), live_(live) {}

  Removed run() {
    Removed removed;
    removed.tensors = compact(function_.tensors, live_, new_tensor_);
    std::vector<bool> used(function_.axes.size(), false);
    walk(function_.body, [&](const Inst& inst) {
      for (const IterationAxis& entry : inst.axes) used[entry.axis] = true;
    });
    removed.axes = compact(function_.axes, used, new_axis_);
    for (Tensor& tensor : function_.tensors)
      if (tensor.alias_of != kNone) tensor.alias_of = new_tensor_[tensor.alias_of];
    for (TensorId& id : function_.inputs) id = new_tensor_[id];
    for (TensorId& id : function_.outputs) id = new_tensor_[id];
    for (size_t i = 0; i < new_axis_.size(); ++i)
      if (new_axis_[i] != kNone) axis_exprs_[static_cast<AxisId>(i)] = affine_.axis(new_axis_[i]);
    walk(function_.body, [&](Inst& inst) {
      for (IterationAxis& entry : inst.axes) entry.axis = new_axis_[entry.axis];
      for (Operand& operand : inst.operands) rename(operand);
      rename(inst.result);
    });
    return removed;
  }

  TensorId tensor(TensorId id) const { return new_tensor_[id]; }

 private:
  template <class T>
  static int64_t compact(std::vector<T>& all, const std::vector<bool>& keep, std::vector<uint32_t>& renamed) {
    renamed.assign(all.size(), kNone);
    size_t kept = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!keep[i]) continue;
      renamed[i] = static_cast<uint32_t>(kept);
      if (kept != i) all[kept] = std::move(all[i]);
      ++kept;
    }
    const int64_t dropped = static_cast<int64_t>(all.size() - kept);
    all.resize(kept);
    return dropped;
  }

  void rename(Operand& operand) {
    if (operand.kind == Operand::Kind::Tensor) operand.tensor = new_tensor_[operand.tensor];
    for (Ref& e : operand.index) e = affine_.substitute(e, axis_exprs_);
    if (operand.value != nullptr) operand.value = affine_.substitute(operand.value, axis_exprs_);
  }

  Function& function_;
  affine::Context& affine_;
  const std::vector<bool>& live_;
  std::vector<uint32_t> new_tensor_, new_axis_;
  std::unordered_map<AxisId, Ref> axis_exprs_;
};

}  // namespace

Removed remove_dead(Module& module) {
  Removed total;
  for (Function& function : module.functions) {
    if (is_tile_level(function)) continue;
    std::vector<bool> live_stmts(function.body.size(), false);
    const std::vector<bool> live = live_tensors(function, live_stmts);
    std::vector<Stmt> kept;
    for (size_t i = 0; i < function.body.size(); ++i)
      if (live_stmts[i] || !function.body[i].inst) kept.push_back(std::move(function.body[i]));
    total.instructions += static_cast<int64_t>(function.body.size() - kept.size());
    function.body = std::move(kept);
    Renumber renumber(function, *module.affine, live);
    const Removed removed = renumber.run();
    total.tensors += removed.tensors;
    total.axes += removed.axes;
    if (&function != &module.main()) continue;
    for (std::vector<IoBinding>* list : {&module.inputs, &module.outputs})
      for (IoBinding& binding : *list) binding.tensor = renumber.tensor(binding.tensor);
  }
  return total;
}

}  // namespace ncc::penguin
