// Properties of access functions: bounds, injectivity, disjointness. Sufficient conditions, exact for the
// mixed-radix accesses that lowering and tiling produce.
#pragma once
#include <functional>
#include <span>

#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

using Extent = std::function<int64_t(AxisId)>;

/// Number of points of the domain that the axes span.
int64_t num_points(std::span<const IterationAxis> axes, const Extent& extent);

/// Different points give different elements: in some dimension after another, the coefficients of the axes
/// not yet determined form a mixed-radix number, until all axes of extent > 1 are determined.
bool is_injective(std::span<const Ref> index, std::span<const IterationAxis> axes, const Extent& extent);

/// No element is named by both: in some dimension the value ranges are apart, or are apart modulo one of the
/// coefficients.
bool are_disjoint(std::span<const Ref> a, std::span<const Ref> b, const Extent& extent);

}  // namespace ncc::penguin
