#include "tools/hlo-opt/hlo/alias/alias_table.h"

#include <algorithm>
#include <map>

namespace ncc::hlo_passes {

using hlo::InputOutputAlias;
using hlo::Shape;

namespace {

void collect(const Shape& shape, TuplePath& path, std::vector<ShapeLeaf>& leaves) {
  if (!shape.is_tuple()) {
    leaves.push_back({path, &shape});
    return;
  }
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    path.push_back(static_cast<int64_t>(i));
    collect(shape.elements[i], path, leaves);
    path.pop_back();
  }
}

}  // namespace

std::vector<ShapeLeaf> leaves_of(const Shape& shape) {
  std::vector<ShapeLeaf> leaves;
  TuplePath path;
  collect(shape, path, leaves);
  return leaves;
}

const Shape* shape_at(const Shape& shape, const TuplePath& path) {
  const Shape* here = &shape;
  for (int64_t i : path) {
    if (!here->is_tuple() || i < 0 || i >= static_cast<int64_t>(here->elements.size())) return nullptr;
    here = &here->elements[static_cast<size_t>(i)];
  }
  return here;
}

bool is_aliased_output(const hlo::Module& module, const TuplePath& path) {
  return std::any_of(module.aliases.begin(), module.aliases.end(),
                     [&](const InputOutputAlias& alias) { return alias.output_index == path; });
}

// First come, first served, over outputs and then parameters in order; by printed shape with layout.
void pair_outputs(hlo::Module& module, AliasKind kind, PassContext& context) {
  std::multimap<std::string, std::pair<int64_t, TuplePath>> free;
  for (const hlo::Instruction* parameter : module.entry()->parameters()) {
    for (const ShapeLeaf& leaf : leaves_of(parameter->shape)) {
      const bool taken = std::any_of(module.aliases.begin(), module.aliases.end(), [&](const auto& alias) {
        return alias.parameter == parameter->index && alias.parameter_index == leaf.path;
      });
      if (!taken && leaf.shape->is_array())
        free.insert({to_string(*leaf.shape, true), {parameter->index, leaf.path}});
    }
  }
  const Shape result = module.entry()->root()->shape;
  for (const ShapeLeaf& leaf : leaves_of(result)) {
    if (is_aliased_output(module, leaf.path)) continue;
    const auto found = free.lower_bound(to_string(*leaf.shape, true));
    if (found == free.end() || found->first != to_string(*leaf.shape, true)) continue;
    module.aliases.push_back({leaf.path, found->second.first, found->second.second, kind == AliasKind::Must});
    free.erase(found);
    ++context.changes;
  }
}

void set_alias_kind(hlo::Module& module, AliasKind kind, PassContext& context) {
  const bool must = kind == AliasKind::Must;
  for (InputOutputAlias& alias : module.aliases) {
    if (alias.must_alias == must) continue;
    alias.must_alias = must;
    ++context.changes;
  }
}

}  // namespace ncc::hlo_passes
