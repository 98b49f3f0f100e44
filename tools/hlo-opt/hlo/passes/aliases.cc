// Passes over the input-output alias table. An entry says that an output may, or must, share memory with a
// parameter; at most one per output. Source: spec/hlo-front-half.md §4.17 (44-48, 72, 73).
//   remove-aliases      clears the table
//   add-{must,may}-aliases  pairs each unaliased output with an unused parameter of equal shape and layout
//   flip-must-aliases   must -> may; flip-may-aliases, alias_to_must_alias: may -> must
//   buffer_donation_to_alias  a donated parameter with an output of equal shape becomes a may alias
//   verify-aliasing     rejects entries that name no output or parameter, differ in shape, or repeat
#include <algorithm>
#include <map>
#include <set>

#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::InputOutputAlias;
using hlo::Module;
using hlo::Shape;
using Path = std::vector<int64_t>;

struct Leaf {
  Path path;
  const Shape* shape;
};

void collect(const Shape& shape, Path& path, std::vector<Leaf>& leaves) {
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

std::vector<Leaf> leaves_of(const Shape& shape) {
  std::vector<Leaf> leaves;
  Path path;
  collect(shape, path, leaves);
  return leaves;
}

const Shape* at(const Shape& shape, const Path& path) {
  const Shape* here = &shape;
  for (int64_t i : path) {
    if (!here->is_tuple() || i < 0 || i >= static_cast<int64_t>(here->elements.size())) return nullptr;
    here = &here->elements[static_cast<size_t>(i)];
  }
  return here;
}

bool is_aliased_output(const Module& module, const Path& path) {
  return std::any_of(module.aliases.begin(), module.aliases.end(),
                     [&](const InputOutputAlias& alias) { return alias.output_index == path; });
}

// First come, first served, over outputs and then parameters in order; by printed shape with layout.
void pair_outputs(Module& module, bool must, PassContext& context) {
  std::multimap<std::string, std::pair<int64_t, Path>> free;
  for (const hlo::Instruction* parameter : module.entry()->parameters()) {
    for (const Leaf& leaf : leaves_of(parameter->shape)) {
      const bool taken = std::any_of(module.aliases.begin(), module.aliases.end(), [&](const auto& alias) {
        return alias.parameter == parameter->index && alias.parameter_index == leaf.path;
      });
      if (!taken && leaf.shape->is_array())
        free.insert({to_string(*leaf.shape, true), {parameter->index, leaf.path}});
    }
  }
  const Shape result = module.entry()->root()->shape;
  for (const Leaf& leaf : leaves_of(result)) {
    if (is_aliased_output(module, leaf.path)) continue;
    const auto found = free.lower_bound(to_string(*leaf.shape, true));
    if (found == free.end() || found->first != to_string(*leaf.shape, true)) continue;
    module.aliases.push_back({leaf.path, found->second.first, found->second.second, must});
    free.erase(found);
    ++context.changes;
  }
}

Status set_kind(Module& module, bool must, PassContext& context) {
  for (InputOutputAlias& alias : module.aliases) {
    if (alias.must_alias == must) continue;
    alias.must_alias = must;
    ++context.changes;
  }
  return Status::ok();
}

Status bad_alias(const std::string& what) {
  return error(Code::EVRF003, fmt::format("input-output alias: {}", what));
}

}  // namespace

Status remove_aliases(Module& module, PassContext& context) {
  context.changes += static_cast<int64_t>(module.aliases.size());
  module.aliases.clear();
  return Status::ok();
}

Status add_must_aliases(Module& module, PassContext& context) {
  pair_outputs(module, true, context);
  return Status::ok();
}

Status add_may_aliases(Module& module, PassContext& context) {
  pair_outputs(module, false, context);
  return Status::ok();
}

Status flip_must_aliases(Module& module, PassContext& context) { return set_kind(module, false, context); }
Status flip_may_aliases(Module& module, PassContext& context) { return set_kind(module, true, context); }
Status alias_to_must_alias(Module& module, PassContext& context) { return set_kind(module, true, context); }

Status buffer_donation_to_alias(Module& module, PassContext& context) {
  const std::vector<hlo::Instruction*> parameters = module.entry()->parameters();
  const Shape result = module.entry()->root()->shape;
  const std::vector<Leaf> outputs = leaves_of(result);
  // Outputs without an alias by printed shape, first ones last.
  std::map<std::string, std::vector<Path>> free;
  for (auto leaf = outputs.rbegin(); leaf != outputs.rend(); ++leaf)
    if (!is_aliased_output(module, leaf->path)) free[to_string(*leaf->shape, true)].push_back(leaf->path);
  std::erase_if(module.donors, [&](const hlo::BufferDonor& donor) {
    if (donor.parameter < 0 || donor.parameter >= static_cast<int64_t>(parameters.size())) return false;
    const Shape* shape = at(parameters[static_cast<size_t>(donor.parameter)]->shape, donor.parameter_index);
    if (!shape) return false;
    std::vector<Path>& paths = free[to_string(*shape, true)];
    if (paths.empty()) return false;
    module.aliases.push_back({paths.back(), donor.parameter, donor.parameter_index, false});
    paths.pop_back();
    ++context.changes;
    return true;
  });
  return Status::ok();
}

Status verify_aliasing(Module& module, PassContext&) {
  const std::vector<hlo::Instruction*> parameters = module.entry()->parameters();
  const Shape& result = module.entry()->root()->shape;
  std::set<Path> outputs;
  std::set<std::pair<int64_t, Path>> inputs;
  for (const InputOutputAlias& alias : module.aliases) {
    const Shape* output = at(result, alias.output_index);
    if (!output)
      return bad_alias(fmt::format("there is no output {{{}}}", fmt::join(alias.output_index, ",")));
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(parameters.size()))
      return bad_alias(fmt::format("there is no parameter {}", alias.parameter));
    const Shape* input = at(parameters[static_cast<size_t>(alias.parameter)]->shape, alias.parameter_index);
    if (!input)
      return bad_alias(fmt::format("parameter {} has no element {{{}}}", alias.parameter,
                                   fmt::join(alias.parameter_index, ",")));
    if (!compatible(*input, *output))
      return bad_alias(fmt::format("output {{{}}} is {}, parameter {} is {}",
                                   fmt::join(alias.output_index, ","), to_string(*output), alias.parameter,
                                   to_string(*input)));
    if (!outputs.insert(alias.output_index).second)
      return bad_alias(fmt::format("output {{{}}} has two", fmt::join(alias.output_index, ",")));
    if (!inputs.insert({alias.parameter, alias.parameter_index}).second)
      return bad_alias(fmt::format("parameter {} has two", alias.parameter));
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
