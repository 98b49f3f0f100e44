// Spelling hints for unknown names: options, passes, jobs, targets.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ncc {

/// The candidate with the smallest edit distance to `name` (the earlier one on a tie); empty without
/// candidates.
std::string closest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace ncc
