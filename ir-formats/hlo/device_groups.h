// Iota lists of device ids ("[2,4]<=[8]", "[4,2]<=[2,4]T(1,0)"), used by replica groups and shardings.
#pragma once
#include <cstdint>
#include <vector>

#include "common/diag/status.h"

namespace ncc::hlo {

/// 0 … N-1 reshaped to `reshape`, transposed by `permutation` (empty = identity), cut into `groups` rows of
/// `per_group`. EVRF003 when the counts do not multiply up or exceed 2^20 devices.
Result<std::vector<std::vector<int64_t>>> expand_iota_groups(int64_t groups, int64_t per_group,
                                                             const std::vector<int64_t>& reshape,
                                                             const std::vector<int64_t>& permutation);

}  // namespace ncc::hlo
