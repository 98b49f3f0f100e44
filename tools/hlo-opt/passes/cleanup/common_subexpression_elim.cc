#include "tools/hlo-opt/passes/cleanup/common_subexpression_elim.h"

#include <unordered_map>

#include "ir-formats/penguin/walk.h"
#include "tools/hlo-opt/passes/cleanup/writers.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

/// A text that is equal for equal instructions: axes are named by their position.
class Key {
 public:
  Key(const Function& function, const Inst& inst) : function_(function) {
    for (size_t i = 0; i < inst.axes.size(); ++i) position_[inst.axes[i].axis] = i;
    const TensorAttributes& a = inst.attributes;
    text_ =
        fmt::format("{} {} {} {} {} {} {} {};", static_cast<int>(inst.op), static_cast<int>(inst.function),
                    static_cast<int>(a.comparison), a.total_order, static_cast<int>(a.alu),
                    static_cast<int>(a.activation), a.exponent_bits, a.mantissa_bits);
    for (const IterationAxis& entry : inst.axes)
      text_ += fmt::format("{}:{},", function.axes[entry.axis].extent, static_cast<int>(entry.role));
    const Tensor& result = function.tensors[inst.result.tensor];
    text_ += fmt::format(";{}[{}]", static_cast<int>(result.dtype), fmt::join(result.shape, ","));
    for (const Ref e : inst.result.index) add(e);
    for (const Operand& operand : inst.operands) {
      text_ += fmt::format(";{} {} {} {} ", static_cast<int>(operand.kind), static_cast<int>(operand.dtype),
                           operand.tensor, operand.scalar);
      for (const Ref e : operand.index) add(e);
      if (operand.value != nullptr) add(operand.value);
    }
  }
  const std::string& text() const { return text_; }

 private:
  void add(Ref e) {
    text_ += fmt::format("|{}", e->constant);
    // Terms are sorted by axis id, which need not be the order of positions.
    std::vector<std::pair<size_t, int64_t>> terms;
    for (const affine::Term& term : e->terms) terms.emplace_back(position_.at(term.axis), term.coef);
    std::sort(terms.begin(), terms.end());
    for (const auto& [position, coef] : terms) text_ += fmt::format("+{}*{}", coef, position);
  }

  const Function& function_;
  std::unordered_map<AxisId, size_t> position_;
  std::string text_;
};

}  // namespace

Status common_subexpression_elim(Module& module) {
  Function& function = module.main();
  const auto writers = find_writers(function);
  std::vector<TensorId> same(function.tensors.size());
  for (TensorId id = 0; id < same.size(); ++id) same[id] = id;
  std::unordered_map<std::string, TensorId> computed;
  walk(function.body, [&](Inst& inst) {
    for (Operand& operand : inst.operands)
      if (operand.kind == Operand::Kind::Tensor) operand.tensor = same[operand.tensor];
    const TensorId id = inst.result.tensor;
    if (!is_replaceable(function, id, writers)) return;
    const auto [entry, is_new] = computed.try_emplace(Key(function, inst).text(), id);
    if (is_new) return;
    const bool is_output = function.tensors[id].role == Role::Output;
    same[id] = entry->second;
    if (!is_output) return;
    // The access is the same in both tensors, so the copy reads where it writes.
    Operand source = inst.result;
    source.tensor = entry->second;
    std::erase_if(inst.axes, [](const IterationAxis& axis) {
      return axis.role == AxisRole::Reduce || axis.role == AxisRole::Contract;
    });
    for (IterationAxis& axis : inst.axes) axis.role = AxisRole::Parallel;
    make_copy(inst, std::move(source));
  });
  for (Tensor& tensor : function.tensors)
    if (tensor.alias_of != kNone) tensor.alias_of = same[tensor.alias_of];
  return Status::ok();
}

}  // namespace ncc::hlo_opt
