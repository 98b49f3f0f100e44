#include "ir-formats/isa/machine/hazards.h"

#include <algorithm>

namespace ncc::machine {

// Memories
// -----------------------------------------------------------------------------------------------------------

void AccessHistory::split_at(int64_t byte) {
  auto after = cells_.upper_bound(byte);
  if (after == cells_.begin()) return;
  auto cell = std::prev(after);
  if (cell->first == byte || cell->second.end <= byte) return;
  Cell upper = cell->second;
  cell->second.end = byte;
  cells_.emplace_hint(after, byte, std::move(upper));
}

std::optional<Race> AccessHistory::check(const Cell& cell, int64_t begin, const Footprint& footprint,
                                         const Access& access, const Clocks& known) const {
  for (const Record& record : cell.records) {
    if (!record.access.write && !access.write) continue;
    const bool ordered = record.access.component == access.component ||
                         record.access.clock <= known[static_cast<size_t>(record.access.component)];
    if (ordered || record.first_partition >= footprint.end_partition ||
        footprint.first_partition >= record.end_partition)
      continue;
    // A dense record fills its cell, a dense access covers it: they meet. Otherwise compare the patterns.
    Footprint dense;
    dense.first_partition = record.first_partition;
    dense.end_partition = record.end_partition;
    dense.first = begin;
    dense.run = cell.end - begin;
    if (!overlap(record.sparse ? *record.sparse : dense, footprint)) continue;
    return Race{record.access.who, access.who, record.access.write, access.write,
                std::max(begin, footprint.first)};
  }
  return std::nullopt;
}

std::optional<Race> AccessHistory::add(const Footprint& footprint, const Access& access,
                                       const Clocks& known) {
  const int64_t begin = footprint.first, end = footprint.end();
  split_at(begin);
  split_at(end);
  std::shared_ptr<const Footprint> sparse;
  if (!footprint.is_dense()) sparse = std::make_shared<const Footprint>(footprint);
  const Record record{access, static_cast<int16_t>(footprint.first_partition),
                      static_cast<int16_t>(footprint.end_partition), sparse};
  // An older record is covered when any later access that conflicts with it also conflicts with the new one,
  // or is ordered after the new one and so after it.
  auto covered = [&](const Record& old) {
    if (old.first_partition < footprint.first_partition || old.end_partition > footprint.end_partition)
      return false;
    if (sparse && !(old.sparse && *old.sparse == footprint)) return false;
    if (access.write) return true;
    return !old.access.write && (old.access.component == access.component ||
                                 old.access.clock <= known[static_cast<size_t>(old.access.component)]);
  };
  bool only_new = true;
  auto first = cells_.lower_bound(begin);
  for (auto cell = first; cell != cells_.end() && cell->first < end; ++cell) {
    if (std::optional<Race> race = check(cell->second, cell->first, footprint, access, known)) return race;
    std::erase_if(cell->second.records, covered);
    only_new = only_new && cell->second.records.empty();
  }
  if (only_new) {  // one interval replaces all
    auto last = first;
    while (last != cells_.end() && last->first < end) ++last;
    cells_.erase(first, last);
    cells_[begin] = {end, {record}};
    return std::nullopt;
  }
  int64_t at = begin;  // fill the gaps, append to the rest
  while (at < end) {
    auto cell = cells_.lower_bound(at);
    const int64_t gap_end = cell == cells_.end() ? end : std::min(end, cell->first);
    if (gap_end > at) {
      cells_.emplace_hint(cell, at, Cell{gap_end, {record}});
      at = gap_end;
      continue;
    }
    cell->second.records.push_back(record);
    at = cell->second.end;
  }
  return std::nullopt;
}

// Happens-before
// -----------------------------------------------------------------------------------------------------

HazardChecker::HazardChecker(size_t num_queues, size_t num_variables)
    : known_(kEngines + num_queues, std::make_shared<const Clocks>(kEngines + num_queues, 0)),
      clock_(kEngines + num_queues, 0),
      dram_(num_variables) {}

AccessHistory& HazardChecker::history(const isa::Access& access) {
  if (access.space == isa::Space::Sbuf) return sbuf_;
  if (access.space == isa::Space::Psum) return psum_;
  return dram_[static_cast<size_t>(access.variable)];
}

std::optional<Race> HazardChecker::access(int component, const isa::Access& access, bool write,
                                          Accessor who) {
  const auto i = static_cast<size_t>(component);
  return history(access).add(footprint(access), {component, clock_[i], write, who}, *known_[i]);
}

void HazardChecker::acquire(int component, const Release& release) {
  const auto i = static_cast<size_t>(component);
  const Clocks& mine = *known_[i];
  const auto own = static_cast<size_t>(release.component);
  bool news = mine[own] < release.clock;
  if (!news && release.known == known_[i]) return;
  for (size_t c = 0; c < mine.size() && !news; ++c) news = mine[c] < (*release.known)[c];
  if (!news) return;
  auto joined = std::make_shared<Clocks>(mine);
  for (size_t c = 0; c < mine.size(); ++c) (*joined)[c] = std::max((*joined)[c], (*release.known)[c]);
  (*joined)[own] = std::max((*joined)[own], release.clock);
  known_[i] = std::move(joined);
}

void HazardChecker::acquire(int component, const Knowledge& known) {
  acquire(component, Release{known, 0, 0});
}

// Semaphores
// ---------------------------------------------------------------------------------------------------------

void SemaphoreHistory::add(int32_t value_after, Release release) {
  if (!entries_.empty() && value_after < entries_.back().value) monotone_ = false;
  if (std::find(producers_.begin(), producers_.end(), release.component) == producers_.end())
    producers_.push_back(release.component);
  entries_.push_back({value_after, std::move(release)});
}

void SemaphoreHistory::acquire(HazardChecker& checker, int component, int32_t threshold) const {
  if (entries_.empty() || threshold <= 0) return;
  // The update that satisfied the wait: the first of the last stretch of values that reach the threshold.
  auto satisfied = entries_.end();
  if (monotone_) {
    satisfied = std::partition_point(entries_.begin(), entries_.end(),
                                     [&](const Entry& entry) { return entry.value < threshold; });
    if (satisfied == entries_.end()) return;
  } else {
    while (satisfied != entries_.begin() && std::prev(satisfied)->value >= threshold) --satisfied;
    if (satisfied == entries_.end()) return;
  }
  // Each producer updates in order, so its latest update up to there stands for the earlier ones.
  std::vector<int> missing = producers_;
  for (auto entry = std::make_reverse_iterator(satisfied + 1); entry != entries_.rend() && !missing.empty();
       ++entry)
    if (std::erase(missing, entry->release.component) > 0) checker.acquire(component, entry->release);
}

}  // namespace ncc::machine
