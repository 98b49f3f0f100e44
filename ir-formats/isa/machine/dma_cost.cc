// DMA side of the cost model (DESIGN section 14, M3): which of the 16 engines moves which bytes, and the
// rings. A transfer is a sequence of contiguous runs. A run costs max(its bytes, minimum run) on its engine;
// an on-chip side ties each run to engine partition / 8 (the destination's when both sides are on chip).
#include <algorithm>

#include "common/diag/status.h"
#include "ir-formats/isa/machine/cost.h"

namespace ncc::machine {

using isa::Access;
using isa::Space;

namespace {

constexpr int kPartitionsPerEngine = 8;

// Elements of the innermost contiguous run, not crossing a partition of either side.
int64_t run_elements(const Access& access) {
  int64_t run = 1;
  for (int i = access.rank - 1; i >= 0; --i) {
    if (access.dims[i].count == 1) continue;
    if (access.dims[i].step != run) break;
    run *= access.dims[i].count;
  }
  return run;
}

bool on_chip(const Access& access) { return access.space == Space::Sbuf || access.space == Space::Psum; }

// Rate of a transposing transfer as a fraction of the planning rate.
struct Rate {
  int64_t num, den;
};
Rate transpose_rate(const isa::DmaDescriptor& d) {
  if (d.src.space == Space::Dram && on_chip(d.dst)) return {9, 10};
  return {1, 2};
}

}  // namespace

DmaCost dma_cost(const isa::DmaDescriptor& d, const ArchModel& arch) {
  DmaCost cost;
  const int64_t element = std::max(size_bytes(d.src.dtype), size_bytes(d.dst.dtype));
  const int64_t elements = d.dst.num_elements();
  cost.bytes = elements * element;
  if (elements == 0) return cost;
  // Runs of both sides nest when shapes are powers; where they don't, the shorter bounds the run.
  int64_t run = std::min(run_elements(d.src), run_elements(d.dst));
  for (const Access* side : {&d.src, &d.dst})
    if (on_chip(*side)) run = std::min(run, side->elements_per_partition());
  int64_t work = (elements + run - 1) / run * std::max(run * element, arch.dma_min_run_bytes);
  if (d.transpose) {
    const Rate rate = transpose_rate(d);
    work = cost.bytes * rate.den / rate.num;
  }
  const Access& fixed = on_chip(d.dst) ? d.dst : d.src;
  if (!on_chip(fixed)) {
    cost.any_engine = true;
    const int64_t share = std::max(arch.dma_min_run_bytes, (work + kDmaEngines - 1) / kDmaEngines);
    for (int64_t& bytes : cost.engine_bytes) {
      bytes = std::min(share, work);
      work -= bytes;
    }
    return cost;
  }
  const int64_t per_partition = (work + fixed.num_partitions - 1) / fixed.num_partitions;
  for (int p = fixed.start_partition; p < fixed.start_partition + fixed.num_partitions; ++p)
    cost.engine_bytes[static_cast<size_t>(p / kPartitionsPerEngine % kDmaEngines)] += per_partition;
  return cost;
}

Ticks DmaState::data_ready(int queue, Ticks trigger, const ArchModel& arch) const {
  const Ring& ring = queues_[static_cast<size_t>(queue)];
  const int64_t overlap = arch.dma_overlap_per_ring;
  Ticks begin = trigger;
  if (ring.count >= overlap)
    begin = std::max(begin, ring.done[static_cast<size_t>((ring.count - overlap) % std::ssize(ring.done))]);
  return begin + ticks_from_ns(static_cast<double>(arch.dma_start_latency_ns), arch);
}

DmaTiming DmaState::move(int queue, const DmaCost& cost, const ArchModel& arch, Ticks ready) {
  Ring& ring = queues_[static_cast<size_t>(queue)];
  NCC_CHECK(arch.dma_overlap_per_ring <= std::ssize(ring.done), "a ring remembers too few transfers");
  DmaTiming timing{-1, std::max(ready, ring.last_done)};
  for (size_t i = 0; i < cost.engine_bytes.size(); ++i) {
    if (cost.engine_bytes[i] == 0) continue;
    const size_t engine = cost.any_engine ? (i + static_cast<size_t>(next_engine_)) % kDmaEngines : i;
    const Ticks start = std::max(ready, free_[engine]);
    const Ticks ticks = dma_ticks(cost.engine_bytes[i], arch);
    free_[engine] = start + ticks;
    busy_[engine] += ticks;
    timing.start = timing.start < 0 ? start : std::min(timing.start, start);
    timing.done = std::max(timing.done, free_[engine]);
  }
  if (timing.start < 0) timing.start = ready;
  if (cost.any_engine) {
    const auto used =
        std::count_if(cost.engine_bytes.begin(), cost.engine_bytes.end(), [](int64_t b) { return b > 0; });
    next_engine_ = static_cast<int>((next_engine_ + used) % kDmaEngines);
  }
  ring.last_done = timing.done;
  ring.done[static_cast<size_t>(ring.count % std::ssize(ring.done))] = timing.done;
  ++ring.count;
  return timing;
}

Ticks dma_ticks(int64_t bytes, const ArchModel& arch) {
  // bytes / (D bytes per ns) in ticks of ticks_per_second; both rates are whole multiples of 100 MHz.
  const int64_t ticks_per_10ns = arch.ticks_per_second / 100'000'000;
  const int64_t denominator = int64_t{10} * arch.dma_bytes_per_ns;
  return (bytes * ticks_per_10ns + denominator - 1) / denominator;
}

}  // namespace ncc::machine
