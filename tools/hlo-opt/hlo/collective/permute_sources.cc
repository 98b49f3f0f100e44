#include "tools/hlo-opt/hlo/collective/permute_sources.h"

namespace ncc::hlo_passes {

int64_t permuted_count(const Instruction& permute) {
  const hlo::Module& module = *permute.parent->module();
  return permute.attrs().channel_id > 0 ? module.num_partitions : module.replica_count;
}

std::optional<Dims> permute_sources(const Instruction& permute) {
  constexpr int64_t kMostNumbers = 4096;
  const int64_t count = permuted_count(permute);
  if (count < 1 || count > kMostNumbers) return std::nullopt;
  Dims sources(static_cast<size_t>(count), -1);
  for (const auto& [source, target] : permute.attrs().source_target_pairs) {
    if (source < 0 || source >= count || target < 0 || target >= count ||
        sources[static_cast<size_t>(target)] >= 0)
      return std::nullopt;
    sources[static_cast<size_t>(target)] = source;
  }
  return sources;
}

}  // namespace ncc::hlo_passes
