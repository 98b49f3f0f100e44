#include "ir-formats/hlo/device_groups.h"

#include <algorithm>
#include <numeric>

namespace ncc::hlo {

Result<std::vector<std::vector<int64_t>>> expand_iota_groups(int64_t groups, int64_t per_group,
                                                             const std::vector<int64_t>& reshape,
                                                             const std::vector<int64_t>& permutation) {
  constexpr int64_t kMaxDevices = 1 << 20;
  const auto bad = [](std::string_view why) {
    return error(Code::EVRF003, fmt::format("iota device list: {}", why));
  };
  if (groups <= 0 || per_group <= 0 || groups > kMaxDevices || per_group > kMaxDevices / groups)
    return bad("group counts out of range");
  int64_t total = 1;
  for (int64_t size : reshape) {
    if (size <= 0 || size > kMaxDevices || total > kMaxDevices / size) return bad("sizes out of range");
    total *= size;
  }
  if (total != groups * per_group) return bad("sizes do not multiply up to the number of devices");
  const size_t rank = reshape.size();
  std::vector<int64_t> order = permutation;
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != rank || sorted[i] != static_cast<int64_t>(i))
      return bad("the transposition is no permutation");
  }
  std::vector<int64_t> stride(rank, 1), index(rank, 0);
  for (size_t d = rank; d-- > 1;) stride[d - 1] = stride[d] * reshape[d];
  std::vector<std::vector<int64_t>> result(static_cast<size_t>(groups));
  for (int64_t position = 0; position < total; ++position) {
    int64_t id = 0;
    for (size_t d = 0; d < rank; ++d) id += index[d] * stride[static_cast<size_t>(order[d])];
    result[static_cast<size_t>(position / per_group)].push_back(id);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < reshape[static_cast<size_t>(order[d])]) break;
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace ncc::hlo
