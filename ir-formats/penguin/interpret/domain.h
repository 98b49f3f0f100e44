// Flat element offsets of accesses: row-major position in the tensor as an affine function of the iteration
// axes.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// constant + sum(step[i] * axis_i), axes in the order given.
struct FlatAccess {
  int64_t constant = 0;
  std::vector<int64_t> steps;
};

/// Of an operand over `axes`. Index operands give their value; Scalars all zeros.
FlatAccess flatten(const Operand& operand, const std::vector<int64_t>& shape,
                   const std::vector<IterationAxis>& axes);

/// Calls visit(offsets, ...) for every point of the axes before the last, with the position of each access at
/// the start of the innermost run. `extents` and all accesses have the same rank >= 1.
template <class Visit>
void for_each_run(const std::vector<int64_t>& extents, const std::vector<FlatAccess>& accesses,
                  Visit&& visit) {
  const size_t rank = extents.size();
  std::vector<int64_t> index(rank, 0), position(accesses.size());
  for (size_t a = 0; a < accesses.size(); ++a) position[a] = accesses[a].constant;
  while (true) {
    visit(position);
    size_t d = rank - 1;
    while (true) {
      if (d == 0) return;
      --d;
      for (size_t a = 0; a < accesses.size(); ++a) position[a] += accesses[a].steps[d];
      if (++index[d] < extents[d]) break;
      for (size_t a = 0; a < accesses.size(); ++a) position[a] -= accesses[a].steps[d] * extents[d];
      index[d] = 0;
    }
  }
}

}  // namespace ncc::penguin
