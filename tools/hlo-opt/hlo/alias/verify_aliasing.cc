// Rejects alias entries that name no output or parameter, differ in shape, or repeat one (EVRF003).
// Source: spec/hlo-front-half.md §1.4, §4.17.
#include <set>

#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Status bad_alias(const std::string& what) {
  return error(Code::EVRF003, fmt::format("input-output alias: {}", what));
}

}  // namespace

Status verify_aliasing(hlo::Module& module, PassContext&) {
  const std::vector<hlo::Instruction*> parameters = module.entry()->parameters();
  const hlo::Shape& result = module.entry()->root()->shape;
  std::set<TuplePath> outputs;
  std::set<std::pair<int64_t, TuplePath>> inputs;
  for (const hlo::InputOutputAlias& alias : module.aliases) {
    const hlo::Shape* output = shape_at(result, alias.output_index);
    if (!output)
      return bad_alias(fmt::format("there is no output {{{}}}", fmt::join(alias.output_index, ",")));
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(parameters.size()))
      return bad_alias(fmt::format("there is no parameter {}", alias.parameter));
    const hlo::Shape* input =
        shape_at(parameters[static_cast<size_t>(alias.parameter)]->shape, alias.parameter_index);
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
