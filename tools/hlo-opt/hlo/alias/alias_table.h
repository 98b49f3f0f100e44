// The input-output alias table: an entry says that an output may, or must, share memory with a parameter; at
// most one per output. Source: spec/hlo-front-half.md §4.17.
#pragma once
#include <vector>

#include "tools/hlo-opt/hlo/pass.h"

namespace ncc::hlo_passes {

/// Where an array stands in nested tuples.
using TuplePath = std::vector<int64_t>;

struct ShapeLeaf {
  TuplePath path;
  const hlo::Shape* shape;
};

/// What is no tuple, in order.
std::vector<ShapeLeaf> leaves_of(const hlo::Shape& shape);
/// nullptr when the shape has no such element.
const hlo::Shape* shape_at(const hlo::Shape& shape, const TuplePath& path);
bool is_aliased_output(const hlo::Module& module, const TuplePath& path);

enum class AliasKind : uint8_t { May, Must };

/// Pairs each output without an alias with a free parameter of equal shape and layout: first come, first
/// served, over outputs and then parameters in order.
void pair_outputs(hlo::Module& module, AliasKind kind, PassContext& context);
/// All entries become of this kind.
void set_alias_kind(hlo::Module& module, AliasKind kind, PassContext& context);

}  // namespace ncc::hlo_passes
