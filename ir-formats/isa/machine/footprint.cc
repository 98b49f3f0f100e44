#include "ir-formats/isa/machine/footprint.h"

#include <algorithm>
#include <cstdlib>

namespace ncc::machine {

int64_t Footprint::end() const {
  int64_t last = first + run;
  for (int i = 0; i < rank; ++i)
    last += repeats[static_cast<size_t>(i)].step * (repeats[static_cast<size_t>(i)].count - 1);
  return last;
}

Footprint footprint(const isa::Access& access) {
  Footprint f;
  if (access.space != isa::Space::Dram) {
    f.first_partition = access.start_partition;
    f.end_partition = access.start_partition + access.num_partitions;
  }
  const int64_t size = size_bytes(access.dtype);
  f.first = access.offset;
  f.run = size;
  for (int i = 0; i < access.rank; ++i) {
    const isa::Dim dim = access.dims[static_cast<size_t>(i)];
    if (dim.count == 1 || dim.step == 0) continue;
    if (dim.step < 0) f.first += dim.step * size * (dim.count - 1);
    f.repeats[static_cast<size_t>(f.rank++)] = {std::abs(dim.step) * size, dim.count};
  }
  std::sort(f.repeats.begin(), f.repeats.begin() + f.rank,
            [](const auto& a, const auto& b) { return a.step > b.step; });
  while (f.rank > 0 && f.repeats[static_cast<size_t>(f.rank - 1)].step <=
                           f.run) {  // the innermost repeats make a longer run
    const Footprint::Repeat inner = f.repeats[static_cast<size_t>(--f.rank)];
    f.run += inner.step * (inner.count - 1);
    f.repeats[static_cast<size_t>(f.rank)] = {};
  }
  return f;
}

namespace {

// One unknown of: difference + sum(value_i * step_i) lies in (-run_a, run_b), value_i in [low_i, high_i].
struct Unknown {
  int64_t step, low, high;
};
struct Equation {
  std::array<Unknown, 2 * isa::kMaxFreeDims> unknowns;
  int count = 0;
  std::array<int64_t, 2 * isa::kMaxFreeDims + 1> rest_low{}, rest_high{};  // range of the terms from i on
  int64_t low, high;                                                       // wanted: low < sum < high
  int64_t budget = 1 << 20;
};

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

bool solvable(Equation& e, int i, int64_t sum) {
  if (sum + e.rest_high[static_cast<size_t>(i)] <= e.low ||
      sum + e.rest_low[static_cast<size_t>(i)] >= e.high)
    return false;
  if (i == e.count) return true;
  if (--e.budget < 0) return true;  // too irregular to tell: say yes
  const Unknown& u = e.unknowns[static_cast<size_t>(i)];
  const int64_t rest_high = e.rest_high[static_cast<size_t>(i + 1)],
                rest_low = e.rest_low[static_cast<size_t>(i + 1)];
  // low < sum + value * step + rest < high for some rest in its range.
  const int64_t first = std::max(u.low, floor_div(e.low - rest_high - sum, u.step) + 1);
  const int64_t last = std::min(u.high, floor_div(e.high - rest_low - sum - 1, u.step));
  for (int64_t value = first; value <= last; ++value)
    if (solvable(e, i + 1, sum + value * u.step)) return true;
  return false;
}

}  // namespace

bool overlap(const Footprint& a, const Footprint& b) {
  if (a.first_partition >= b.end_partition || b.first_partition >= a.end_partition) return false;
  if (a.first >= b.end() || b.first >= a.end()) return false;
  if (a.is_dense() && b.is_dense()) return true;
  Equation e;
  e.low = -a.run;
  e.high = b.run;
  auto add = [&](int64_t step, int64_t low, int64_t high) {
    for (int i = 0; i < e.count; ++i)
      if (Unknown& u = e.unknowns[static_cast<size_t>(i)];
          u.step == step) {  // equal steps act as one unknown
        u.low += low;
        u.high += high;
        return;
      }
    e.unknowns[static_cast<size_t>(e.count++)] = {step, low, high};
  };
  for (int i = 0; i < a.rank; ++i)
    add(a.repeats[static_cast<size_t>(i)].step, 0, a.repeats[static_cast<size_t>(i)].count - 1);
  for (int i = 0; i < b.rank; ++i)
    add(b.repeats[static_cast<size_t>(i)].step, 1 - b.repeats[static_cast<size_t>(i)].count, 0);
  std::sort(e.unknowns.begin(), e.unknowns.begin() + e.count,
            [](const Unknown& x, const Unknown& y) { return x.step > y.step; });
  for (int i = e.count - 1; i >= 0; --i) {
    const Unknown& u = e.unknowns[static_cast<size_t>(i)];
    e.rest_low[static_cast<size_t>(i)] = e.rest_low[static_cast<size_t>(i + 1)] + u.low * u.step;
    e.rest_high[static_cast<size_t>(i)] = e.rest_high[static_cast<size_t>(i + 1)] + u.high * u.step;
  }
  return solvable(e, 0, a.first - b.first);
}

int64_t distinct_bytes(const Footprint& f) {
  int64_t bytes = f.run * (f.end_partition - f.first_partition);
  for (int i = 0; i < f.rank; ++i) bytes *= f.repeats[static_cast<size_t>(i)].count;
  return bytes;
}

}  // namespace ncc::machine
