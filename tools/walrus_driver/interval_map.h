// Which accesses last touched which bytes: an ordered map of disjoint byte intervals, each with its current
// writers and the readers since. Rows (partitions) are kept per entry, so that neighbours in one byte range
// stay apart. An access costs O(log n + intervals it covers); a covering write melts the intervals it covers
// into one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace ncc::walrus {

class IntervalMap {
 public:
  struct Entry {
    uint32_t access;      // the caller's number
    int16_t first, last;  // rows, half open
    uint16_t group = 0;   // readers of one group replace each other when compacting
  };

  /// With compaction a reader replaces earlier readers of its group whose rows it covers: right when a group
  /// completes in order.
  explicit IntervalMap(bool compact_readers) : compact_(compact_readers) {}

  /// Calls conflict(entry access) for every writer of a common byte, then notes the read.
  template <class Conflict>
  void read(int64_t low, int64_t high, Entry entry, Conflict&& conflict) {
    visit(low, high, [&](Node& node) {
      for (const Entry& writer : node.writers)
        if (overlap(writer, entry) && writer.access != entry.access) conflict(writer.access);
      if (compact_)
        std::erase_if(node.readers, [&](const Entry& r) {
          return r.group == entry.group && r.first >= entry.first && r.last <= entry.last;
        });
      if (node.readers.empty() || node.readers.back().access != entry.access ||
          !same_rows(node.readers.back(), entry))
        node.readers.push_back(entry);
    });
  }

  /// Calls conflict(access, is_writer) for every access to a common byte; the write takes their place.
  template <class Conflict>
  void write(int64_t low, int64_t high, Entry entry, Conflict&& conflict) {
    bool sole = true;
    visit(low, high, [&](Node& node) {
      const auto displace = [&](std::vector<Entry>& list, bool is_writer) {
        size_t kept = 0;
        std::vector<Entry> rest;
        for (const Entry& e : list) {
          if (!overlap(e, entry)) {
            list[kept++] = e;
            continue;
          }
          if (e.access != entry.access) conflict(e.access, is_writer);
          if (e.first < entry.first) rest.push_back({e.access, e.first, entry.first, e.group});
          if (e.last > entry.last) rest.push_back({e.access, entry.last, e.last, e.group});
        }
        list.resize(kept);
        list.insert(list.end(), rest.begin(), rest.end());
        sole = sole && list.empty();
      };
      displace(node.readers, false);
      displace(node.writers, true);
      node.writers.push_back(entry);
    });
    if (sole) melt(low, high, entry);
  }

  size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    int64_t end;
    std::vector<Entry> writers, readers;
  };
  using Map = std::map<int64_t, Node>;

  static bool overlap(const Entry& a, const Entry& b) { return a.first < b.last && b.first < a.last; }
  static bool same_rows(const Entry& a, const Entry& b) { return a.first == b.first && a.last == b.last; }

  void split(int64_t at) {
    auto it = nodes_.upper_bound(at);
    if (it == nodes_.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    Node tail = it->second;
    it->second.end = at;
    nodes_.emplace_hint(std::next(it), at, std::move(tail));
  }

  template <class F>
  void visit(int64_t low, int64_t high, F&& f) {
    split(low);
    split(high);
    auto it = nodes_.lower_bound(low);
    int64_t at = low;
    while (at < high) {
      if (it == nodes_.end() || it->first > at) {
        const int64_t end = it == nodes_.end() ? high : std::min(high, it->first);
        it = nodes_.emplace_hint(it, at, Node{end, {}, {}});
      }
      f(it->second);
      at = it->second.end;
      ++it;
    }
  }

  void melt(int64_t low, int64_t high, const Entry& entry) {
    auto first = nodes_.lower_bound(low);
    const auto last = nodes_.lower_bound(high);
    if (std::next(first) == last) return;
    nodes_.erase(std::next(first), last);
    first->second = Node{high, {entry}, {}};
  }

  bool compact_;
  Map nodes_;
};

}  // namespace ncc::walrus
