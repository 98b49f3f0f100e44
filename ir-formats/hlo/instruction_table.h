// A value per instruction of one computation: a vector over the range of its ids, or a hash map where passes
// have left the ids too sparse for that. Instructions must not be added or renumbered while it lives.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

template <class T>
class InstructionTable {
 public:
  explicit InstructionTable(const Computation& computation) {
    if (computation.size() == 0) return;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (const auto& inst : computation.instructions()) {
      first = std::min(first, inst->id);
      last = std::max(last, inst->id);
    }
    first_ = first;
    if (last - first < 4 * computation.size() + 64) dense_.resize(static_cast<size_t>(last - first + 1));
  }
  /// Default-constructed on first access. Instructions of other computations are fine, they go to the map.
  T& operator[](const Instruction* inst) {
    const int64_t slot = inst->id - first_;
    if (slot >= 0 && slot < static_cast<int64_t>(dense_.size())) return dense_[static_cast<size_t>(slot)];
    return sparse_[inst];
  }

 private:
  int64_t first_ = 0;
  std::vector<T> dense_;
  std::unordered_map<const Instruction*, T> sparse_;
};

}  // namespace ncc::hlo
