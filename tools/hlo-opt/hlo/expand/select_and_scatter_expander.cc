// select-and-scatter by elementwise ops, one window position (tap) after the other:
//   choose:  held = tap 0; for each further tap, where select(held, value of the tap) is false, the tap is
//   held; taps
//            on padding are skipped
//   combine: the elements of the source whose window holds tap t lie in the result at stride * index + t:
//   they are
//            padded apart to its shape and combined into it where there is one, last tap first. An element of
//            the result thus meets its sources in their order, so that sums round as they did.
// Windows of more than kLargestWindow taps and bodies with other ops stay. Source: spec/stablehlo-text.md
// §3.7.
#include "tools/hlo-opt/hlo/expand/array_body.h"
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kLargestWindow = 256;

class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit),
        inst_(inst),
        window_(inst->attrs().window),
        operand_(inst->operand(0)),
        source_(inst->operand(1)) {}

  void run() {
    std::vector<Dims> taps{Dims(window_.size(), 0)};
    while (next(taps.back(), taps)) {
    }
    choose(taps);
    const Value held(edit_, held_);
    Instruction* result = edit_.broadcast_scalar(inst_->operand(2), inst_->shape.dims);
    for (size_t t = taps.size(); t-- > 0;)
      result = combined(result, taps[t], equal(held, static_cast<double>(t)));
    edit_.replace(inst_, result);
  }

 private:
  // Appends the row-major successor of the last tap.
  bool next(Dims tap, std::vector<Dims>& taps) const {
    for (size_t d = tap.size(); d-- > 0;) {
      if (++tap[d] < window_[d].size) {
        taps.push_back(std::move(tap));
        return true;
      }
      tap[d] = 0;
    }
    return false;
  }

  // Where tap lies in the operand for window 0 of dimension d, possibly on padding.
  int64_t offset(const Dims& tap, size_t d) const {
    return tap[d] * window_[d].window_dilation - window_[d].padding_low;
  }

  // The operand's values under one tap, shaped like the source. Positions on padding hold anything.
  Instruction* values_under(Instruction* array, const Dims& tap) {
    std::vector<hlo::PaddingDim> padding;
    Dims starts, limits, strides;
    for (size_t d = 0; d < tap.size(); ++d) {
      const int64_t first = offset(tap, d), count = source_->shape.dims[d];
      const int64_t last = first + (count - 1) * window_[d].stride, size = array->shape.dims[d];
      const int64_t low = std::max<int64_t>(0, -first), high = std::max<int64_t>(0, last + 1 - size);
      padding.push_back({low, high, 0});
      starts.push_back(first + low);
      limits.push_back(last + low + 1);
      strides.push_back(window_[d].stride);
    }
    Instruction* filler = edit_.scalar(array->shape.dtype, 0);
    return edit_.slice(edit_.pad(array, filler, std::move(padding)), starts, limits, strides);
  }

  // held_: per source element the number of the chosen tap, -1 when every tap is on padding.
  void choose(const std::vector<Dims>& taps) {
    const Shape numbers = Shape::array(Dtype::S32, source_->shape.dims);
    const Value inside(edit_, edit_.splat(Shape::array(Dtype::Pred, operand_->shape.dims), 1));
    Value held(edit_, edit_.splat(numbers, -1));
    Value best(edit_, edit_.splat(Shape::array(operand_->shape.dtype, source_->shape.dims), 0));
    for (size_t t = 0; t < taps.size(); ++t) {
      const Value candidate(edit_, values_under(operand_, taps[t]));
      const Value valid(edit_, values_under(inside.inst(), taps[t]));
      const Value keeps(edit_, applied_body(edit_, *inst_->called[0], {best.inst(), candidate.inst()}));
      const Value takes = valid & (less(held, 0) | ~keeps);
      held = select(takes, held.like(static_cast<double>(t)), held);
      best = select(takes, candidate, best);
    }
    held_ = held.inst();
  }

  // An array like the source, moved to where tap lies in the result; elements on padding fall off.
  Instruction* placed(Instruction* array, const Dims& tap) {
    std::vector<hlo::PaddingDim> padding;
    for (size_t d = 0; d < tap.size(); ++d) {
      const int64_t low = offset(tap, d), count = source_->shape.dims[d];
      const int64_t reach = count + (count - 1) * (window_[d].stride - 1);
      padding.push_back({low, inst_->shape.dims[d] - low - reach, window_[d].stride - 1});
    }
    return edit_.pad(array, edit_.scalar(array->shape.dtype, 0), std::move(padding));
  }

  Instruction* combined(Instruction* result, const Dims& tap, Value chosen) {
    const Value there(edit_, placed(chosen.inst(), tap));
    Instruction* update = applied_body(edit_, *inst_->called[1], {result, placed(source_, tap)});
    const Value updated(edit_, edit_.convert(update, result->shape.dtype));
    return select(there, updated, Value(edit_, result)).inst();
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const hlo::Window window_;
  Instruction *operand_, *source_;
  Instruction* held_ = nullptr;
};

bool is_expandable(const Instruction& inst) {
  if (!inst.is(Opcode::SelectAndScatter) || inst.shape.is_dynamic() || inst.shape.num_elements() == 0 ||
      inst.operand_shape(1).num_elements() == 0)
    return false;
  int64_t taps = 1;
  for (const hlo::WindowDim& dim : inst.attrs().window) {
    if (dim.base_dilation != 1) return false;
    taps *= dim.size;
    if (taps > kLargestWindow) return false;
  }
  return taps > 0 && is_elementwise_body(*inst.called[0]) && is_elementwise_body(*inst.called[1]);
}

}  // namespace

Status select_and_scatter_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (is_expandable(*inst) && !edit.is_pinned(inst)) Expansion(edit, inst).run();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
