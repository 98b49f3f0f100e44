// Builds the statements that replace one Reduce or Contract. Their functions may be of Model level: the pass
// expands them in turn.
#pragma once
#include <string>
#include <vector>

#include "tools/hlo-opt/passes/expand_math/emit.h"
#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

using Axes = std::vector<penguin::IterationAxis>;

class Statements {
 public:
  Statements(penguin::Module& module, penguin::Function& function, Names& names,
             const penguin::Inst& original)
      : module_(module), function_(function), names_(names), original_(original) {}

  std::vector<penguin::Stmt> take() { return std::move(out_); }
  int64_t extent(penguin::AxisId axis) const { return function_.axes[axis].extent; }

  /// A Reduce whose operand is read in overlapping windows: a dim moves with a parallel axis by less than the
  /// folded axes reach.
  bool reads_window(const penguin::Inst& inst) const;

  /// A new iteration axis, named after the one it comes from.
  penguin::AxisId new_axis(penguin::AxisId from, int64_t extent);
  /// A new Internal tensor with one dim per axis, as an operand that reads (or writes) it over those axes.
  penguin::Operand temporary(const std::string& suffix, Dtype dtype, const Axes& axes);
  /// The same operand with an axis replaced by `to * scale + offset` (kNone: by the constant offset).
  penguin::Operand with_axis(penguin::Operand operand, penguin::AxisId from, penguin::AxisId to,
                             int64_t scale = 1, int64_t offset = 0) const;
  /// The same operand with an axis replaced by `outer * size + inner`.
  penguin::Operand with_sum(penguin::Operand operand, penguin::AxisId from, penguin::AxisId outer,
                            int64_t size, penguin::AxisId inner) const;
  static penguin::Operand scalar(Dtype dtype, int64_t value);

  /// Appends a Map of a Model function over `axes` (all made parallel).
  penguin::Inst& map(penguin::ScalarFunction function, std::vector<penguin::Operand> operands,
                     const penguin::Operand& result, const Axes& axes);
  /// A Map into a new tensor over `axes`.
  penguin::Operand map(const std::string& suffix, penguin::ScalarFunction function,
                       std::vector<penguin::Operand> operands, Dtype result, const Axes& axes);
  penguin::Inst& reduce(penguin::ScalarFunction function, const penguin::Operand& data,
                        const penguin::Operand& identity, const penguin::Operand& result, const Axes& axes);
  penguin::Inst& contract(const penguin::Operand& lhs, const penguin::Operand& rhs,
                          const penguin::Operand& result, const Axes& axes);
  /// Makes `value` the result of the original instruction: the statement that computed it writes there if it
  /// was the last one and gives the right type; otherwise a conversion does.
  void finish(const penguin::Operand& value, const Axes& axes);

 private:
  static void substitute(affine::Context& context, penguin::Operand& operand, penguin::AxisId from,
                         affine::Ref to);
  penguin::Inst& append(penguin::TensorOp op, penguin::ScalarFunction function,
                        std::vector<penguin::Operand> operands, const penguin::Operand& result,
                        const Axes& axes);

  penguin::Module& module_;
  penguin::Function& function_;
  Names& names_;
  const penguin::Inst& original_;
  std::vector<penguin::Stmt> out_;
};

/// The axes with (or without) a role.
Axes with_role(const Axes& axes, penguin::AxisRole role);
Axes without_role(const Axes& axes, penguin::AxisRole role);
/// The axes that occur in an operand's access.
Axes used_axes(const Axes& axes, const penguin::Operand& operand);

}  // namespace ncc::hlo_opt::math_expansion
