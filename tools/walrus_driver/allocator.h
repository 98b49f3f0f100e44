// The one interval allocator: time x address x 32-row band. Locations are intervals of program positions; two
// that overlap in time and rows must not overlap in bytes.
//
// Three strategies, tried in this order until one places everything:
//   Rotate    a sweep over time with next fit: the search starts behind the latest placement, so freed space
//   is reused as late
//             as possible. That is multi-buffering by itself: a loop's buffers walk through the whole memory,
//             and the write-after-read edges that reuse creates point far back. Long-lived locations are
//             placed from the top instead, out of the walk.
//   FirstFit  the same sweep with the lowest free address: compact, depth 1 where it must be.
//   Largest   large locations first, each at the lowest address free over its whole life. Quadratic, so only
//   for
//             functions of moderate size.
// The sweep costs O(log n) per placement plus the live blocks it steps over.
// Source: DESIGN §7 (4), section 14 C4; spec/walrus.md §2.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/bir/module.h"

namespace ncc::walrus {

struct Lifetime {
  uint32_t location = 0;
  int64_t start = 0, end = 0;  // first and last position, inclusive
  int64_t size = 0;            // bytes per partition
  int32_t partitions = 1;
  int32_t base_alignment = 1;
  int32_t base = 0;  // result
  int64_t address = 0;
};

struct Space {
  int64_t capacity = 0;
  int64_t granule = 1;  // addresses are multiples; sizes above it start on `alignment`
  int64_t alignment = 64;
  int64_t bank = 0;          // a location of at most this size stays inside one; 0 = no banks
  bool whole_banks = false;  // Rotate: one location per bank
  bool has_bands = true;
};

/// SBUF's geometry.
Space sbuf_space(const ArchModel& arch);

enum class Strategy : uint8_t { Rotate, FirstFit, Largest };

/// Lifetimes of the unallocated locations of one memory over the function's flat block, by start.
std::vector<Lifetime> lifetimes(const bir::Function& fn, bir::Memory memory);

/// Places all; on failure the index (into `items`) of one that did not fit.
std::optional<size_t> place(std::vector<Lifetime>& items, const Space& space, Strategy strategy,
                            int64_t positions);

/// Largest sum of sizes live at one position, rows ignored.
int64_t peak_bytes(const std::vector<Lifetime>& items);

}  // namespace ncc::walrus
