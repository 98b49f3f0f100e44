// Who sends to whom in a collective-permute.
#pragma once
#include <optional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// How many numbers the pairs choose from: partitions with a channel, else replicas.
int64_t permuted_count(const Instruction& permute);

/// The source of each number, -1 = none. Nothing when a pair names a process that does not exist or a target
/// twice, or there are more than 4096 numbers.
std::optional<Dims> permute_sources(const Instruction& permute);

}  // namespace ncc::hlo_passes
