// The set of bytes an access touches, as a pattern of equal runs; and whether two such sets meet.
#pragma once
#include <array>
#include <cstdint>

#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

/// Bytes { first + sum(index_i * step_i) + [0, run) } on partitions [first_partition, end_partition). Steps
/// are positive and descending, broadcasts are dropped, runs fused; rank 0 = one run.
struct Footprint {
  int first_partition = 0, end_partition = 1;
  int64_t first = 0, run = 0;
  int rank = 0;
  struct Repeat {
    int64_t step, count;
    bool operator==(const Repeat&) const = default;
  };
  std::array<Repeat, isa::kMaxFreeDims> repeats{};

  int64_t end() const;  // one past the last byte
  bool is_dense() const { return rank == 0; }
  bool operator==(const Footprint&) const = default;
};

Footprint footprint(const isa::Access& access);

/// Whether the two share a byte of a partition. Exact; time grows with the number of dims, not of runs, for
/// the usual nested steps.
bool overlap(const Footprint& a, const Footprint& b);

/// Distinct bytes of the footprint, all partitions (runs of one access are taken not to overlap each other).
int64_t distinct_bytes(const Footprint& footprint);

}  // namespace ncc::machine
