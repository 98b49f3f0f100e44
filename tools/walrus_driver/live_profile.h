// Bytes in use at every position of a program: add to a range, ask the maximum of a range, both O(log n).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace ncc::walrus {

class LiveProfile {
 public:
  explicit LiveProfile(int64_t positions) {
    while (leaves_ < positions) leaves_ *= 2;
    most_.assign(static_cast<size_t>(2 * leaves_), 0);
    added_.assign(static_cast<size_t>(2 * leaves_), 0);
  }
  /// [low, high) in positions.
  void add(int64_t low, int64_t high, int64_t bytes) { add(1, 0, leaves_, low, high, bytes); }
  int64_t most(int64_t low, int64_t high) const { return most(1, 0, leaves_, low, high); }

 private:
  void add(int64_t node, int64_t from, int64_t to, int64_t low, int64_t high, int64_t bytes) {
    if (high <= from || to <= low) return;
    if (low <= from && to <= high) {
      added_[at(node)] += bytes;
      most_[at(node)] += bytes;
      return;
    }
    const int64_t middle = (from + to) / 2;
    add(2 * node, from, middle, low, high, bytes);
    add(2 * node + 1, middle, to, low, high, bytes);
    most_[at(node)] = added_[at(node)] + std::max(most_[at(2 * node)], most_[at(2 * node + 1)]);
  }
  int64_t most(int64_t node, int64_t from, int64_t to, int64_t low, int64_t high) const {
    if (high <= from || to <= low) return 0;
    if (low <= from && to <= high) return most_[at(node)];
    const int64_t middle = (from + to) / 2;
    return added_[at(node)] +
           std::max(most(2 * node, from, middle, low, high), most(2 * node + 1, middle, to, low, high));
  }
  static size_t at(int64_t node) { return static_cast<size_t>(node); }

  int64_t leaves_ = 1;
  std::vector<int64_t> most_, added_;
};

}  // namespace ncc::walrus
