// A donated parameter with an output of equal shape and layout becomes a may-alias entry; each output takes
// one. Source: spec/hlo-front-half.md §4.17 (73).
#include <map>

#include "tools/hlo-opt/hlo/alias/alias_table.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status buffer_donation_to_alias(hlo::Module& module, PassContext& context) {
  const std::vector<hlo::Instruction*> parameters = module.entry()->parameters();
  const hlo::Shape result = module.entry()->root()->shape;
  const std::vector<ShapeLeaf> outputs = leaves_of(result);
  // Outputs without an alias by printed shape, first ones last.
  std::map<std::string, std::vector<TuplePath>> free;
  for (auto leaf = outputs.rbegin(); leaf != outputs.rend(); ++leaf)
    if (!is_aliased_output(module, leaf->path)) free[to_string(*leaf->shape, true)].push_back(leaf->path);
  std::erase_if(module.donors, [&](const hlo::BufferDonor& donor) {
    if (donor.parameter < 0 || donor.parameter >= static_cast<int64_t>(parameters.size())) return false;
    const hlo::Shape* shape =
        shape_at(parameters[static_cast<size_t>(donor.parameter)]->shape, donor.parameter_index);
    if (!shape) return false;
    std::vector<TuplePath>& paths = free[to_string(*shape, true)];
    if (paths.empty()) return false;
    module.aliases.push_back({paths.back(), donor.parameter, donor.parameter_index, false});
    paths.pop_back();
    ++context.changes;
    return true;
  });
  return Status::ok();
}

}  // namespace ncc::hlo_passes
