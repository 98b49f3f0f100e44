// Maps of written bytes. On chip every partition of an access has the same pattern, so the pattern becomes
// one row of mask words, applied to each partition's bits; in DRAM, where a pattern may span far more than it
// touches, runs are set one by one.
#include <algorithm>
#include <bit>

#include "ir-formats/isa/machine/state.h"

namespace ncc::machine {
namespace {

// Calls body(first byte relative to the first element) for each contiguous run; `length` is the run's length.
template <class Body>
void for_each_run(const View& view, int64_t& length, const Body& body) {
  int rank = view.rank;
  length = view.element_size;
  if (view.dims[rank - 1].step == view.element_size) length *= view.dims[--rank].count;
  std::array<int64_t, isa::kMaxFreeDims> index{};
  int64_t at = 0;
  while (true) {
    body(at);
    int d = rank - 1;
    for (; d >= 0; --d) {
      at += view.dims[d].step;
      if (++index[d] < view.dims[d].count) break;
      at -= view.dims[d].step * view.dims[d].count;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

void set_bits(uint64_t* words, int64_t begin, int64_t end) {
  while (begin < end) {
    const int64_t in_word = begin % 64, count = std::min<int64_t>(64 - in_word, end - begin);
    const uint64_t ones = count == 64 ? ~uint64_t{0} : ((uint64_t{1} << count) - 1);
    words[begin / 64] |= ones << in_word;
    begin += count;
  }
}

}  // namespace

// Odd multiples of a cache line keep the rows from falling into the same cache sets.
WrittenMap::WrittenMap(int64_t rows, int64_t bytes_per_row)
    : rows_(rows), words_per_row_(((bytes_per_row + 511) / 512 | 1) * 8) {
  bits_ = Mapping(rows_ * words_per_row_ * 8);
}

void WrittenMap::fill_mask(const View& view) const {
  first_word_ = view.low_byte / 64;
  mask_.assign(static_cast<size_t>((view.end_byte + 63) / 64 - first_word_), 0);
  const int64_t origin = view.row_offset - first_word_ * 64;
  int64_t length;
  for_each_run(view, length, [&](int64_t at) { set_bits(mask_.data(), origin + at, origin + at + length); });
}

void WrittenMap::set_range(int64_t row, int64_t begin, int64_t end, bool written) {
  uint64_t* words = row_words(row);
  if (written) return set_bits(words, begin, end);
  for (; begin < end; ++begin) words[begin / 64] &= ~(uint64_t{1} << (begin % 64));
}

bool WrittenMap::all_set(int64_t row, int64_t begin, int64_t end, int64_t& missing) const {
  const uint64_t* words = row_words(row);
  while (begin < end) {
    const int64_t in_word = begin % 64, count = std::min<int64_t>(64 - in_word, end - begin);
    const uint64_t ones = count == 64 ? ~uint64_t{0} : ((uint64_t{1} << count) - 1);
    const uint64_t lacking = ~words[begin / 64] & (ones << in_word);
    if (lacking != 0) {
      missing = begin / 64 * 64 + std::countr_zero(lacking);
      return false;
    }
    begin += count;
  }
  return true;
}

void WrittenMap::mark(const View& view, bool written) {
  if (rows_ == 0) return;
  if (view.space == isa::Space::Dram) {
    int64_t length;
    for_each_run(view, length, [&](int64_t at) {
      set_range(0, view.row_offset + at, view.row_offset + at + length, written);
    });
    return;
  }
  fill_mask(view);
  for (int p = 0; p < view.partitions; ++p) {
    uint64_t* words = row_words(view.first_partition + p) + first_word_;
    if (written)
      for (size_t i = 0; i < mask_.size(); ++i) words[i] |= mask_[i];
    else
      for (size_t i = 0; i < mask_.size(); ++i) words[i] &= ~mask_[i];
  }
}

WrittenMap::Missing WrittenMap::find_unwritten(const View& view) const {
  Missing missing;
  if (view.space == isa::Space::Dram) {
    int64_t length;
    for_each_run(view, length, [&](int64_t at) {
      int64_t byte;
      if (missing.row < 0 && !all_set(0, view.row_offset + at, view.row_offset + at + length, byte))
        missing = {0, byte};
    });
    return missing;
  }
  fill_mask(view);
  for (int p = 0; p < view.partitions; ++p) {
    const uint64_t* words = row_words(view.first_partition + p) + first_word_;
    uint64_t lacking = 0;
    for (size_t i = 0; i < mask_.size(); ++i) lacking |= mask_[i] & ~words[i];
    if (lacking == 0) continue;
    for (size_t i = 0; i < mask_.size(); ++i)
      if (const uint64_t bits = mask_[i] & ~words[i]; bits != 0)
        return {view.first_partition + p,
                (first_word_ + static_cast<int64_t>(i)) * 64 + std::countr_zero(bits)};
  }
  return missing;
}

int64_t WrittenMap::first_unwritten(int64_t row, int64_t size) const {
  int64_t missing;
  return all_set(row, 0, size, missing) ? -1 : missing;
}

}  // namespace ncc::machine
