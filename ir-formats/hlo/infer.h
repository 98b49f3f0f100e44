// Shape rules by op family. Each derives the result shape from operands and attributes and checks the
// constraints that the StableHLO specification numbers ("add_c1"); `inst.shape` gives only what the op leaves
// free. Internal to verify.
#pragma once
#include <fmt/format.h>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// EVRF004 that names the op, the constraint label and what was found and expected.
template <class Found, class Expected>
Status mismatch(const Instruction& inst, std::string_view label, std::string_view what, const Found& found,
                const Expected& expected) {
  return error(Code::EVRF004, inst.loc, fmt::format("{}: {} ({})", describe(inst), what, label),
               fmt::format("{}", found), fmt::format("{}", expected));
}

Result<Shape> infer_elementwise(const Instruction& inst);
Result<Shape> infer_movement(const Instruction& inst);     // kinds Source, Shape
Result<Shape> infer_indexing(const Instruction& inst);     // kind Index
Result<Shape> infer_reduction(const Instruction& inst);    // kinds Reduce, Window
Result<Shape> infer_contraction(const Instruction& inst);  // kinds Contract, Linalg, Rng
/// Which operand of a scaled-dot is its right side: 2, or 1 in the other order of operands.
int64_t scaled_dot_rhs_operand(const Instruction& inst);
Result<Shape> infer_control(const Instruction& inst);     // kinds Control, Tuple
Result<Shape> infer_effect(const Instruction& inst);      // kinds Token, Async
Result<Shape> infer_collective(const Instruction& inst);  // kind Collective
Result<Shape> infer_random(const Instruction& inst);      // kind Rng
Result<Shape> infer_dynamic(const Instruction& inst);     // kind Dynamic

/// Derived sizes stop here: no stated shape is as large, so the disagreement is reported and nothing
/// overflows.
inline constexpr int64_t kMaxDerivedSize = int64_t{1} << 60;
/// Size of one windowed dimension: floor((padded - reach) / stride) + 1, or 0 when the window does not fit.
int64_t windowed_size(int64_t size, const WindowDim& window);
/// Labels of the constraints on a window, in the numbering of the op that has it.
struct WindowLabels {
  std::string_view rank, size, stride, base_dilation, window_dilation, padding;
};
/// Checks sizes, strides and dilations of a window of `rank` dimensions.
Status check_window(const Instruction& inst, int64_t rank, const WindowLabels& labels);
/// Distinct dimensions of a shape of that rank: `in_range` and `unique` label the two halves.
Status check_dims(const Instruction& inst, const std::vector<int64_t>& dims, int64_t rank,
                  std::string_view in_range, std::string_view unique, std::string_view what);
/// Ascending order.
Status check_sorted(const Instruction& inst, const std::vector<int64_t>& dims, std::string_view label,
                    std::string_view what);
/// Body with `count` scalar parameters that returns `results` scalars (0: not compared); element types are
/// not compared, since bodies may be wider.
Status check_scalar_body(const Instruction& inst, const Computation& body, int64_t count, int64_t results,
                         std::string_view label);
bool contains(const std::vector<int64_t>& list, int64_t value);
std::vector<int64_t> joined(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
/// The operands' shapes as results: one, or a tuple of them.
Shape as_results(std::vector<Shape> shapes);
std::vector<Shape> operand_shapes(const Instruction& inst);

/// "[2,3]" for messages.
std::string dims_text(const std::vector<int64_t>& dims);

}  // namespace ncc::hlo
