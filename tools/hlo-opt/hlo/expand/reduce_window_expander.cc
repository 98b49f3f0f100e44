// reduce-window by elementwise ops, one window position (tap) after the other, in the row-major order of the
// window: the operands are padded with the initial values, spread by the base dilation, and each tap is a
// strided slice of that. So every result element meets the same values in the same order as in the op.
// Windows of more than kLargestWindow taps and bodies with other ops stay; cumulative windows have a pass of
// their own (reduce-window-rewriter). Source: spec/stablehlo-text.md §3.7.
#include "tools/hlo-opt/hlo/expand/array_body.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kLargestWindow = 256;

bool is_expandable(const Instruction& inst) {
  if (!inst.is(Opcode::ReduceWindow) || inst.shape.is_dynamic() || !is_elementwise_body(*inst.body()))
    return false;
  for (const Instruction* operand : inst.operands)
    if (!is_plain_array(operand)) return false;
  const Shape& result = inst.shape.is_tuple() ? inst.shape.elements[0] : inst.shape;
  int64_t taps = 1;
  for (const hlo::WindowDim& dim : inst.attrs().window) {
    taps *= dim.size;
    if (taps > kLargestWindow) return false;
  }
  return taps > 0 && result.num_elements() > 0 && inst.operand_shape(0).num_elements() > 0;
}

class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit), inst_(inst), window_(inst->attrs().window), count_(inst->operands.size() / 2) {
    results_ = inst->shape.is_tuple() ? inst->shape.elements : std::vector<Shape>{inst->shape};
    std::vector<hlo::PaddingDim> padding;
    for (const hlo::WindowDim& dim : window_)
      padding.push_back({dim.padding_low, dim.padding_high, dim.base_dilation - 1});
    for (size_t i = 0; i < count_; ++i) {
      Instruction* initial = inst->operands[count_ + i];
      padded_.push_back(edit.pad(inst->operands[i], initial, padding));
      held_.push_back(edit.broadcast_scalar(initial, results_[0].dims));
    }
  }

  void run() {
    Dims tap(window_.size(), 0);
    do {
      step(tap);
    } while (advance(tap));
    for (size_t i = 0; i < count_; ++i) held_[i] = edit_.convert(held_[i], results_[i].dtype);
    edit_.replace(inst_, inst_->shape.is_tuple() ? edit_.tuple(held_) : held_[0]);
  }

 private:
  bool advance(Dims& tap) const {
    for (size_t d = tap.size(); d-- > 0;) {
      if (++tap[d] < window_[d].size) return true;
      tap[d] = 0;
    }
    return false;
  }

  Instruction* under(Instruction* array, const Dims& tap) {
    Dims starts, limits, strides;
    for (size_t d = 0; d < tap.size(); ++d) {
      const int64_t first = tap[d] * window_[d].window_dilation;
      starts.push_back(first);
      limits.push_back(first + (results_[0].dims[d] - 1) * window_[d].stride + 1);
      strides.push_back(window_[d].stride);
    }
    return edit_.slice(array, std::move(starts), std::move(limits), std::move(strides));
  }

  void step(const Dims& tap) {
    std::vector<Instruction*> arguments = held_;
    for (Instruction* array : padded_) arguments.push_back(under(array, tap));
    Instruction* next = applied_body(edit_, *inst_->body(), arguments);
    for (size_t i = 0; i < count_; ++i)
      held_[i] = next->shape.is_tuple() ? edit_.element(next, static_cast<int64_t>(i)) : next;
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const hlo::Window window_;
  const size_t count_;  // operands
  std::vector<Shape> results_;
  std::vector<Instruction*> padded_, held_;
};

}  // namespace

Status reduce_window_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (is_expandable(*inst) && !edit.is_pinned(inst)) Expansion(edit, inst).run();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
