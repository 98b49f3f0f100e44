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
Result<Shape> infer_control(const Instruction& inst);      // kinds Control, Tuple, Token, Collective, Async

/// Derived sizes stop here: no stated shape is as large, so the disagreement is reported and nothing
/// overflows.
inline constexpr int64_t kMaxDerivedSize = int64_t{1} << 60;
/// Size of one windowed dimension: floor((padded - reach) / stride) + 1, or 0 when the window does not fit.
int64_t windowed_size(int64_t size, const WindowDim& window);
/// Checks sizes, strides and dilations of a window of `rank` dimensions.
Status check_window(const Instruction& inst, int64_t rank, std::string_view label);
/// Distinct dimensions of a shape of that rank.
Status check_dims(const Instruction& inst, const std::vector<int64_t>& dims, int64_t rank,
                  std::string_view label, std::string_view what);
/// Body with `count` scalar parameters; element types are not compared (bodies may be wider).
Status check_scalar_body(const Instruction& inst, const Computation& body, int64_t count,
                         std::string_view label);

/// "[2,3]" for messages.
std::string dims_text(const std::vector<int64_t>& dims);

}  // namespace ncc::hlo
