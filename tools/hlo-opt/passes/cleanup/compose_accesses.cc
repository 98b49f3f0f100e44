#include "tools/hlo-opt/passes/cleanup/compose_accesses.h"

#include <algorithm>
#include <unordered_map>

#include "ir-formats/penguin/walk.h"
#include "tools/hlo-opt/passes/cleanup/writers.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

class Composer {
 public:
  explicit Composer(Module& module)
      : function_(module.main()), context_(*module.affine), copies_(function_.tensors.size(), nullptr) {}

  void run() {
    const auto writers = find_writers(function_);
    walk(function_.body, [&](Inst& inst) {
      for (Operand& operand : inst.operands) forward(operand, inst.op == TensorOp::Contract);
      const TensorId id = inst.result.tensor;
      const bool is_copy = inst.op == TensorOp::Map && inst.function == ScalarFunction::Copy &&
                           inst.operands[0].dtype == inst.result.dtype;
      if (is_copy && is_replaceable(function_, id, writers)) copies_[id] = &inst;
    });
  }

 private:
  int64_t extent(AxisId axis) const { return function_.axes[axis].extent; }

  /// Splits the value of `read` into the digits of `written` = sum(radix * axis); false when a digit may
  /// leave its range.
  bool invert(Ref written, Ref read, std::unordered_map<AxisId, Ref>& digits) {
    std::vector<affine::Term> terms = written->terms;
    std::sort(terms.begin(), terms.end(),
              [](const affine::Term& a, const affine::Term& b) { return a.coef > b.coef; });
    Ref rest = context_.add(read, -written->constant);
    for (const affine::Term& digit : terms) {
      if (digit.coef <= 0 || digits.count(digit.axis) != 0) return false;
      // Terms that are multiples of the radix belong to this digit; so does the matching part of the
      // constant.
      std::vector<affine::Term> mine, others;
      for (const affine::Term& term : rest->terms) {
        if (term.coef % digit.coef == 0)
          mine.push_back({term.axis, term.coef / digit.coef});
        else
          others.push_back(term);
      }
      const affine::Interval range =
          affine::bounds(context_.make(0, others), [this](AxisId axis) { return extent(axis); });
      const int64_t low = rest->constant + range.low;
      const int64_t constant = low >= 0 ? low / digit.coef : -((-low + digit.coef - 1) / digit.coef);
      const Ref value = context_.make(constant, std::move(mine));
      const affine::Interval reach = affine::bounds(value, [this](AxisId axis) { return extent(axis); });
      if (reach.low < 0 || reach.high >= extent(digit.axis)) return false;
      digits[digit.axis] = value;
      rest = context_.make(rest->constant - constant * digit.coef, std::move(others));
    }
    return rest->is_constant() && rest->constant == 0;
  }

  void forward(Operand& operand, bool needs_tensor) {
    while (operand.kind == Operand::Kind::Tensor && copies_[operand.tensor] != nullptr) {
      const Inst& copy = *copies_[operand.tensor];
      const Operand& source = copy.operands[0];
      if (needs_tensor && source.kind != Operand::Kind::Tensor) return;
      std::unordered_map<AxisId, Ref> digits;
      for (size_t d = 0; d < operand.index.size(); ++d)
        if (!invert(copy.result.index[d], operand.index[d], digits)) return;
      for (const IterationAxis& entry : copy.axes)
        if (digits.count(entry.axis) == 0) digits[entry.axis] = context_.constant(0);  // extent 1
      Operand composed = source;
      for (Ref& e : composed.index) e = context_.substitute(e, digits);
      if (composed.value != nullptr) composed.value = context_.substitute(composed.value, digits);
      operand = std::move(composed);
    }
  }

  Function& function_;
  affine::Context& context_;
  std::vector<const Inst*> copies_;
};

}  // namespace

Status compose_accesses(Module& module) {
  Composer(module).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
