#include "tools/walrus_driver/allocator.h"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

namespace ncc::walrus {
namespace {

constexpr int kBands = 4;
constexpr int kBandRows = 32;
constexpr size_t kMaxQuadratic = 20'000;
// A location is long-lived, and kept out of the rotation, from this share of the program on.
constexpr int64_t kLongShare = 8;
constexpr int64_t kLongPositions = 512;

int64_t round_up(int64_t value, int64_t granule) { return (value + granule - 1) / granule * granule; }

/// Occupied byte intervals per band at one moment.
class Occupancy {
 public:
  void add(int first_band, int last_band, int64_t low, int64_t high) {
    for (int b = first_band; b < last_band; ++b) bands_[b].emplace(low, high);
  }
  void remove(int first_band, int last_band, int64_t low) {
    for (int b = first_band; b < last_band; ++b) bands_[b].erase(low);
  }
  /// An occupied interval that meets [low, high), if any.
  std::optional<std::pair<int64_t, int64_t>> conflict(int first_band, int last_band, int64_t low,
                                                      int64_t high) const {
    for (int b = first_band; b < last_band; ++b) {
      auto it = bands_[b].lower_bound(high);
      if (it == bands_[b].begin()) continue;
      --it;
      if (it->second > low) return *it;
    }
    return std::nullopt;
  }

 private:
  std::array<std::map<int64_t, int64_t>, kBands> bands_;
};

/// Start partitions a location may have: spec/arch.md §3.2.
std::vector<int32_t> legal_bases(const Lifetime& item, const Space& space) {
  if (!space.has_bands) return {0};
  const int32_t step = item.partitions > 64 ? 128 : item.partitions > 32 ? 64 : 32;
  std::vector<int32_t> bases;
  for (int32_t base = 0; base + item.partitions <= 128; base += step)
    if (base % item.base_alignment == 0) bases.push_back(base);
  return bases;
}

class Placer {
 public:
  Placer(const Space& space, Strategy strategy)
      : space_(space), whole_banks_(space.whole_banks && strategy == Strategy::Rotate) {}

  int64_t size(const Lifetime& item) const {
    if (whole_banks_) return round_up(std::max<int64_t>(item.size, 1), space_.bank);
    return round_up(std::max<int64_t>(item.size, 1), space_.granule);
  }
  int64_t align_up(int64_t at, int64_t size) const {
    const int64_t granule = whole_banks_               ? space_.bank
                            : size >= space_.alignment ? space_.alignment
                                                       : space_.granule;
    at = round_up(at, granule);
    if (space_.bank == 0) return at;
    if (size > space_.bank) return round_up(at, space_.bank);
    return at % space_.bank + size > space_.bank ? round_up(at, space_.bank) : at;
  }
  int64_t align_down(int64_t at, int64_t size) const {
    const int64_t granule = whole_banks_               ? space_.bank
                            : size >= space_.alignment ? space_.alignment
                                                       : space_.granule;
    at = at / granule * granule;
    if (space_.bank == 0) return at;
    if (size > space_.bank) return at / space_.bank * space_.bank;
    return at % space_.bank + size > space_.bank ? at / space_.bank * space_.bank + space_.bank - size : at;
  }

  /// Lowest legal address in [from, to) free in the bands, -1 when none.
  int64_t find_up(const Occupancy& occupied, int first, int last, int64_t size, int64_t from,
                  int64_t to) const {
    int64_t at = align_up(from, size);
    while (at + size <= to) {
      const auto conflict = occupied.conflict(first, last, at, at + size);
      if (!conflict) return at;
      at = align_up(conflict->second, size);
    }
    return -1;
  }
  int64_t find_down(const Occupancy& occupied, int first, int last, int64_t size) const {
    int64_t at = align_down(space_.capacity - size, size);
    while (at >= 0) {
      const auto conflict = occupied.conflict(first, last, at, at + size);
      if (!conflict) return at;
      if (conflict->first < size) return -1;
      at = align_down(conflict->first - size, size);
    }
    return -1;
  }

 private:
  const Space& space_;
  bool whole_banks_;
};

int first_band(int32_t base) { return base / kBandRows; }
int last_band(const Lifetime& item, int32_t base, const Space& space) {
  if (!space.has_bands) return 1;
  return (base + item.partitions + kBandRows - 1) / kBandRows;
}

std::optional<size_t> sweep(std::vector<Lifetime>& items, const Space& space, Strategy strategy,
                            int64_t positions) {
  const Placer placer(space, strategy);
  const int64_t long_from = std::max(kLongPositions, positions / kLongShare);
  Occupancy occupied;
  struct End {
    int64_t end;
    size_t item;
    bool operator<(const End& other) const { return std::tie(end, item) > std::tie(other.end, other.item); }
  };
  std::priority_queue<End> live;
  int64_t cursor = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    Lifetime& item = items[i];
    while (!live.empty() && live.top().end < item.start) {
      const Lifetime& dead = items[live.top().item];
      occupied.remove(first_band(dead.base), last_band(dead, dead.base, space), dead.address);
      live.pop();
    }
    const int64_t size = placer.size(item);
    const bool rotates = strategy == Strategy::Rotate && item.end - item.start < long_from;
    bool placed = false;
    for (int32_t base : legal_bases(item, space)) {
      const int first = first_band(base), last = last_band(item, base, space);
      int64_t at = -1;
      if (rotates) {
        at = placer.find_up(occupied, first, last, size, cursor, space.capacity);
        if (at < 0)
          at = placer.find_up(occupied, first, last, size, 0, std::min(space.capacity, cursor + size));
      } else if (strategy == Strategy::Rotate) {
        at = placer.find_down(occupied, first, last, size);
      } else {
        at = placer.find_up(occupied, first, last, size, 0, space.capacity);
      }
      if (at < 0) continue;
      item.base = base;
      item.address = at;
      occupied.add(first, last, at, at + size);
      live.push({item.end, i});
      if (rotates) cursor = at + size;
      placed = true;
      break;
    }
    if (!placed) return i;
  }
  return std::nullopt;
}

std::optional<size_t> largest_first(std::vector<Lifetime>& items, const Space& space) {
  if (items.size() > kMaxQuadratic) return 0;
  const Placer placer(space, Strategy::Largest);
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return items[a].size > items[b].size; });
  std::vector<size_t> placed;
  for (size_t i : order) {
    Lifetime& item = items[i];
    const int64_t size = placer.size(item);
    bool done = false;
    for (int32_t base : legal_bases(item, space)) {
      const int first = first_band(base), last = last_band(item, base, space);
      std::vector<std::pair<int64_t, int64_t>> taken;
      for (size_t other : placed) {
        const Lifetime& o = items[other];
        if (o.end < item.start || item.end < o.start) continue;
        if (last_band(o, o.base, space) <= first || last <= first_band(o.base)) continue;
        taken.push_back({o.address, o.address + placer.size(o)});
      }
      std::sort(taken.begin(), taken.end());
      int64_t at = 0;
      for (const auto& [low, high] : taken) {
        at = placer.align_up(at, size);
        if (at + size <= low) break;
        at = std::max(at, high);
      }
      at = placer.align_up(at, size);
      if (at + size > space.capacity) continue;
      item.base = base;
      item.address = at;
      placed.push_back(i);
      done = true;
      break;
    }
    if (!done) return i;
  }
  return std::nullopt;
}

}  // namespace

Space sbuf_space(const ArchModel& arch) { return {arch.sbuf_bytes_per_partition, 8, 64, 0, false, true}; }

std::vector<Lifetime> lifetimes(const bir::Function& fn, bir::Memory memory) {
  std::vector<int64_t> item_of(fn.locations.size(), -1);
  std::vector<Lifetime> items;
  const auto touch = [&](const bir::Operand& op, int64_t position) {
    if (op.kind != bir::OperandKind::PhysicalAp) return;
    const bir::MemoryLocation& l = fn.locations[op.location];
    if (l.memory != memory || l.allocated) return;
    if (memory == bir::Memory::Dram && fn.sets[l.set].kind != bir::TensorKind::Internal) return;
    int64_t& item = item_of[op.location];
    if (item < 0) {
      item = static_cast<int64_t>(items.size());
      items.push_back(
          {op.location, position, position, l.bytes_per_partition, l.partitions, l.base_alignment, 0, 0});
    }
    items[static_cast<size_t>(item)].end = position;
  };
  for (size_t i = 0; i < fn.block.instructions.size(); ++i) {
    const bir::Instruction& inst = fn.block.instructions[i];
    for (const bir::Operand& op : inst.ins) touch(op, static_cast<int64_t>(i));
    for (const bir::Operand& op : inst.outs) touch(op, static_cast<int64_t>(i));
  }
  return items;
}

std::optional<size_t> place(std::vector<Lifetime>& items, const Space& space, Strategy strategy,
                            int64_t positions) {
  return strategy == Strategy::Largest ? largest_first(items, space)
                                       : sweep(items, space, strategy, positions);
}

int64_t peak_bytes(const std::vector<Lifetime>& items) {
  std::vector<std::pair<int64_t, int64_t>> events;
  for (const Lifetime& item : items) {
    events.push_back({item.start, item.size});
    events.push_back({item.end + 1, -item.size});
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, peak = 0;
  for (const auto& [at, delta] : events) peak = std::max(peak, live += delta);
  return peak;
}

}  // namespace ncc::walrus
