// Float sums and products are folded in fp32 and rounded once. Integers are folded in fp32 while no partial
// result can pass 2^24; beyond that, sums and products are folded by halves with exact 32-bit arithmetic, and
// extremes in two steps: first the high 24 bits, then the low 8 bits of the elements that reach them. Source:
// DESIGN C5, N2, spec/stablehlo-text.md §3.7.
#include "tools/hlo-opt/passes/expand_math/reduce.h"

#include <algorithm>
#include <cmath>

#include "common/diag/status.h"
#include "tools/hlo-opt/passes/expand_math/fold.h"
#include "tools/hlo-opt/passes/expand_math/range.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using penguin::AxisRole;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;

constexpr double kExact = 0x1p24;
constexpr int64_t kMaxWindow = 64;  // elements of a window that is folded step by step

// On predicates arithmetic is logic.
ScalarFunction canonical(ScalarFunction function, Dtype type) {
  if (type != Dtype::Pred) return function;
  switch (function) {
    case ScalarFunction::Add:
    case ScalarFunction::Maximum:
      return ScalarFunction::Or;
    case ScalarFunction::Multiply:
    case ScalarFunction::Minimum:
      return ScalarFunction::And;
    default:
      return function;
  }
}

bool is_bitwise(ScalarFunction function) {
  return function == ScalarFunction::And || function == ScalarFunction::Or || function == ScalarFunction::Xor;
}

Operand float_scalar(Dtype dtype, float value) {
  Operand operand;
  operand.kind = Operand::Kind::Scalar;
  operand.dtype = dtype;
  operand.scalar = narrow(dtype, value);
  return operand;
}

Operand identity(ScalarFunction function, Dtype type) {
  const Range full = full_range(type);
  switch (function) {
    case ScalarFunction::Multiply:
      return is_float(type) ? float_scalar(type, 1) : Statements::scalar(type, 1);
    case ScalarFunction::Maximum:
      return is_float(type) ? float_scalar(type, -INFINITY)
                            : Statements::scalar(type, static_cast<int64_t>(full.low));
    case ScalarFunction::Minimum:
      return is_float(type) ? float_scalar(type, INFINITY)
                            : Statements::scalar(type, static_cast<int64_t>(full.high));
    case ScalarFunction::And:
      return Statements::scalar(type, type == Dtype::Pred ? 1 : -1);
    default:
      return is_float(type) ? float_scalar(type, 0) : Statements::scalar(type, 0);
  }
}

bool is_identity(ScalarFunction function, const Operand& init) {
  if (init.kind != Operand::Kind::Scalar) return false;
  const uint64_t mask =
      info(init.dtype).bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << info(init.dtype).bits) - 1;
  const uint64_t bits = init.scalar & mask;
  if (bits == (identity(function, init.dtype).scalar & mask)) return true;
  // -0 is the exact identity of addition; +0 differs only for sums of nothing but -0.
  return function == ScalarFunction::Add && is_float(init.dtype) && widen(init.dtype, bits) == 0;
}

int64_t folded_elements(const Inst& inst, const penguin::Function& function) {
  int64_t count = 1;
  for (const penguin::IterationAxis& entry : inst.axes)
    if (entry.role == AxisRole::Reduce) count *= function.axes[entry.axis].extent;
  return count;
}

// No partial fold of `count` such integers leaves fp32's exact ones.
bool folds_exactly(ScalarFunction function, Range range, int64_t count) {
  const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
  switch (function) {
    case ScalarFunction::Maximum:
    case ScalarFunction::Minimum:
      return largest < kExact;
    case ScalarFunction::Add:
      return largest * static_cast<double>(count) <= kExact;
    case ScalarFunction::Multiply:
      return std::pow(std::max(largest, 1.0), static_cast<double>(count)) <= kExact;
    default:
      return true;
  }
}

// Sums and products of these types lose bits when every partial result is rounded to them.
bool needs_fp32_partials(ScalarFunction function, Dtype type) {
  return is_float(type) && type != Dtype::F32 &&
         (function == ScalarFunction::Add || function == ScalarFunction::Multiply);
}

class ReduceExpansion {
 public:
  ReduceExpansion(const Inst& inst, Range range, Statements& statements)
      : inst_(inst),
        range_(range),
        statements_(statements),
        type_(inst.operands[0].dtype),
        function_(canonical(inst.function, type_)),
        parallel_(without_role(inst.axes, AxisRole::Reduce)),
        folded_(with_role(inst.axes, AxisRole::Reduce)) {}

  void run(int64_t count) {
    has_init_ = !is_identity(function_, inst_.operands[1]);
    if (needs_fp32_partials(function_, type_) && count <= kMaxWindow && statements_.reads_window(inst_)) {
      fold_window();
    } else if (is_float(type_) || is_bitwise(function_)) {
      fold_in_machine(needs_fp32_partials(function_, type_) ? Dtype::F32 : type_);
    } else if (folds_exactly(function_, range_, count)) {
      const bool is_extreme = function_ == ScalarFunction::Maximum || function_ == ScalarFunction::Minimum;
      fold_in_machine(is_extreme ? type_ : Dtype::S32);
    } else if (function_ == ScalarFunction::Add || function_ == ScalarFunction::Multiply) {
      fold_by_halves();
    } else {
      fold_in_two_steps();
    }
  }

 private:
  Dtype result_type() const { return inst_.result.dtype; }
  Dtype wide_type() const { return is_signed_int(type_) ? Dtype::S32 : Dtype::U32; }

  // The folded value becomes the result: converted to its type (modulo 2^bits for integers) and joined with
  // the init value.
  void finish(const Operand& folded) {
    Operand value = folded;
    if (has_init_) {
      Operand init = inst_.operands[1];
      if (init.dtype != value.dtype && !is_float(init.dtype))
        value = statements_.map("wrapped", ScalarFunction::Convert, {value}, init.dtype, parallel_);
      statements_.map(function_, {value, init}, inst_.result, parallel_);
    } else {
      statements_.finish(value, parallel_);
    }
  }

  void fold_in_machine(Dtype partial_type) {
    const Operand none = identity(function_, partial_type);
    if (!has_init_ && partial_type == result_type()) {
      statements_.reduce(function_, inst_.operands[0], none, inst_.result, inst_.axes);
      return;
    }
    const Operand folded = statements_.temporary("folded", partial_type, parallel_);
    statements_.reduce(function_, inst_.operands[0], none, folded, inst_.axes);
    finish(folded);
  }

  // A window is folded element by element, in row-major order from the init value, with a rounding to the
  // narrow type at each step: what XLA's cumulative sums and products give, to the last bit.
  void fold_window() {
    std::vector<Operand> elements = {inst_.operands[0]};
    for (const penguin::IterationAxis& fold : folded_) {
      std::vector<Operand> expanded;
      for (const Operand& element : elements)
        for (int64_t i = 0; i < statements_.extent(fold.axis); ++i)
          expanded.push_back(statements_.with_axis(element, fold.axis, penguin::kNone, 1, i));
      elements = std::move(expanded);
    }
    Operand sum = has_init_ ? inst_.operands[1] : elements.front();
    for (size_t i = has_init_ ? 0 : 1; i < elements.size(); ++i)
      sum = statements_.map("step", function_, {sum, elements[i]}, result_type(), parallel_);
    statements_.finish(sum, parallel_);
  }

  // One axis after the other, each by halves; an odd element out is kept for the end.
  void fold_by_halves() {
    Operand data = inst_.operands[0];
    Axes axes = inst_.axes;
    for (penguin::IterationAxis& entry : axes) entry.role = AxisRole::Parallel;
    if (data.dtype != wide_type()) {
      const Axes used = used_axes(axes, data);
      data = statements_.map("wide", ScalarFunction::Convert, {data}, wide_type(), used);
    }
    for (const penguin::IterationAxis& fold : folded_) {
      std::vector<Operand> leftovers;
      penguin::AxisId axis = fold.axis;
      auto remaining = [&] {
        Axes rest = axes;
        std::erase_if(rest, [&](const auto& entry) { return entry.axis == axis; });
        return rest;
      };
      for (int64_t extent = statements_.extent(axis); extent > 1; extent /= 2) {
        const int64_t half = extent / 2;
        Axes halved = remaining();
        if (extent % 2 != 0)
          leftovers.push_back(statements_.with_axis(data, axis, penguin::kNone, 1, extent - 1));
        const penguin::AxisId next = half > 1 ? statements_.new_axis(axis, half) : penguin::kNone;
        if (next != penguin::kNone) halved.push_back({next, AxisRole::Parallel});
        const Operand low = statements_.with_axis(data, axis, next),
                      high = statements_.with_axis(data, axis, next, 1, half);
        data = statements_.map("half", function_, {low, high}, wide_type(), halved);
        axes = halved;
        if (next != penguin::kNone) axis = next;
      }
      if (statements_.extent(fold.axis) == 1) {
        data = statements_.with_axis(data, axis, penguin::kNone, 1, 0);
        axes = remaining();
      }
      for (const Operand& leftover : leftovers)
        data = statements_.map("half", function_, {data, leftover}, wide_type(), axes);
    }
    finish(data);
  }

  // Maximum of x = 256 * high + low: the largest high, then the largest low among the elements that have it.
  // Minimum the same on 255 - low.
  void fold_in_two_steps() {
    const bool is_max = function_ == ScalarFunction::Maximum;
    const Operand& x = inst_.operands[0];
    const Axes used = used_axes(inst_.axes, x);
    auto constant = [&](int64_t value) { return Statements::scalar(type_, value); };
    const ScalarFunction shift =
        is_signed_int(type_) ? ScalarFunction::ShiftRightArithmetic : ScalarFunction::ShiftRightLogical;
    const Operand high = statements_.map("high", shift, {x, constant(8)}, type_, used);
    Operand low = statements_.map("low", ScalarFunction::And, {x, constant(255)}, type_, used);
    if (!is_max) low = statements_.map("low", ScalarFunction::Xor, {low, constant(255)}, type_, used);

    const Operand best_high = statements_.temporary("best_high", type_, parallel_);
    statements_.reduce(function_, high, identity(function_, type_), best_high, inst_.axes);
    const Operand reaches = statements_.temporary("reaches", Dtype::Pred, inst_.axes);
    statements_.map(ScalarFunction::Compare, {high, best_high}, reaches, inst_.axes);
    const Operand flag = statements_.map("flag", ScalarFunction::Convert, {reaches}, type_, inst_.axes);
    const Operand candidate =
        statements_.map("candidate", ScalarFunction::Multiply, {low, flag}, type_, inst_.axes);
    Operand best_low = statements_.temporary("best_low", type_, parallel_);
    statements_.reduce(ScalarFunction::Maximum, candidate, identity(ScalarFunction::Maximum, type_), best_low,
                       inst_.axes);
    if (!is_max)
      best_low =
          statements_.map("best_low", ScalarFunction::Xor, {best_low, constant(255)}, type_, parallel_);

    const Operand shifted =
        statements_.map("shifted", ScalarFunction::ShiftLeft, {best_high, constant(8)}, type_, parallel_);
    finish(statements_.map("joined", ScalarFunction::Or, {shifted, best_low}, type_, parallel_));
  }

  const Inst& inst_;
  const Range range_;
  Statements& statements_;
  const Dtype type_;
  const ScalarFunction function_;
  const Axes parallel_, folded_;
  bool has_init_ = false;
};

}  // namespace

bool is_machine_reduce(const Inst& inst, const penguin::Function& function, const RangeOf& range_of) {
  const Dtype type = inst.operands[0].dtype;
  const ScalarFunction fold = canonical(inst.function, type);
  if (fold != inst.function || !is_identity(fold, inst.operands[1])) return false;
  if (is_float(type)) return !needs_fp32_partials(fold, inst.result.dtype);
  if (is_bitwise(fold)) return inst.result.dtype == type;
  const bool is_extreme = fold == ScalarFunction::Maximum || fold == ScalarFunction::Minimum;
  return folds_exactly(fold, range_of(inst.operands[0]), folded_elements(inst, function)) &&
         (is_extreme ? inst.result.dtype == type : inst.result.dtype == Dtype::S32);
}

void expand_reduce(const Inst& inst, const RangeOf& range_of, Statements& statements) {
  ReduceExpansion expansion(inst, range_of(inst.operands[0]), statements);
  int64_t count = 1;
  for (const penguin::IterationAxis& entry : inst.axes)
    if (entry.role == AxisRole::Reduce) count *= statements.extent(entry.axis);
  expansion.run(count);
}

}  // namespace ncc::hlo_opt::math_expansion
