#include "ir-formats/hlo/unique_names.h"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

namespace ncc::hlo {

std::unordered_map<const Instruction*, std::string> unique_names(const Module& module) {
  std::unordered_set<std::string> stated, taken;
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) stated.insert(inst->name);
  }
  std::unordered_map<const Instruction*, std::string> made;
  std::unordered_map<std::string, int64_t> suffixes;
  // The entry's names are the ones that people know.
  std::vector<const Computation*> order = {module.entry()};
  for (const Computation* computation : module.post_order()) {
    if (computation != module.entry()) order.push_back(computation);
  }
  for (const Computation* computation : order) {
    for (const auto& inst : computation->instructions()) {
      if (taken.insert(inst->name).second) continue;
      int64_t& suffix = suffixes[inst->name];
      std::string name;
      do {
        name = fmt::format("{}.{}", inst->name, ++suffix);
      } while (stated.count(name) != 0 || !taken.insert(name).second);
      made.emplace(inst.get(), std::move(name));
    }
  }
  return made;
}

}  // namespace ncc::hlo
