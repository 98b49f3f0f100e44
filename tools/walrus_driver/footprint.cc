#include "tools/walrus_driver/footprint.h"

#include <algorithm>

namespace ncc::walrus {
namespace {

using bir::Memory;

// Runs kept apart per operand. In DRAM column tiles of one matrix would otherwise look as if they overlapped.
constexpr int64_t kMaxRunsDram = 512;
constexpr int64_t kMaxRunsOnChip = 16;
constexpr int64_t kPsumBankBytes = 2048;

struct ByteDim {
  int64_t step, count;
};

/// The pattern as nested positive steps, largest first, then one contiguous run.
struct Runs {
  int64_t start = 0, run = 1;
  std::array<ByteDim, bir::kMaxPatternDims> dims{};
  int rank = 0;
};

Runs make_runs(const bir::Operand& op, int first_dim, int64_t start, int64_t max_runs) {
  Runs runs;
  const int64_t size = size_bytes(op.dtype);
  runs.start = start;
  runs.run = size;
  for (int i = first_dim; i < op.rank; ++i) {
    int64_t step = op.ap[i].step * size;
    if (op.ap[i].count == 1 || step == 0) continue;
    if (step < 0) {
      runs.start += step * (op.ap[i].count - 1);
      step = -step;
    }
    runs.dims[runs.rank++] = {step, op.ap[i].count};
  }
  std::sort(runs.dims.begin(), runs.dims.begin() + runs.rank,
            [](const ByteDim& a, const ByteDim& b) { return a.step > b.step; });
  int64_t count = 1;
  for (int i = 0; i < runs.rank; ++i) count *= runs.dims[i].count;
  // Innermost dims join the run while they leave no gap, or while there are too many runs.
  while (runs.rank > 0) {
    const ByteDim& inner = runs.dims[runs.rank - 1];
    if (inner.step > runs.run && count <= max_runs) break;
    runs.run = std::max(runs.run, inner.step * (inner.count - 1) + runs.run);
    count /= inner.count;
    --runs.rank;
  }
  return runs;
}

}  // namespace

void append_spans(const bir::Function& fn, const bir::Operand& op, bool write, bool skip_read_only,
                  std::vector<Span>& out) {
  if (op.kind != bir::OperandKind::PhysicalAp) return;
  const bir::MemoryLocation& location = fn.locations[op.location];
  const bir::MemoryLocationSet& set = fn.sets[location.set];
  Span span{0, 0, 1, 0, 0, write};
  int64_t start = op.offset * size_bytes(op.dtype);
  int first_dim = 0;
  switch (location.memory) {
    case Memory::Dram:
      if (skip_read_only && !write &&
          (set.kind == bir::TensorKind::ExternalInput || set.kind == bir::TensorKind::Const))
        return;
      span.area =
          set.kind == bir::TensorKind::Internal ? kScratchArea : 3 + static_cast<int32_t>(location.set);
      if (set.kind == bir::TensorKind::Internal) start += location.address;
      break;
    case Memory::Sbuf:
    case Memory::Psum:
      span.area = location.memory == Memory::Sbuf ? kSbufArea : kPsumArea;
      span.first = static_cast<int16_t>(location.base + op.partition);
      span.last = static_cast<int16_t>(span.first + op.num_partitions());
      start += location.address + (location.memory == Memory::Psum ? location.bank * kPsumBankBytes : 0);
      first_dim = 1;
      break;
  }
  const Runs runs =
      make_runs(op, first_dim, start, location.memory == Memory::Dram ? kMaxRunsDram : kMaxRunsOnChip);
  std::array<int64_t, bir::kMaxPatternDims> index{};
  while (true) {
    span.low = runs.start;
    for (int i = 0; i < runs.rank; ++i) span.low += index[i] * runs.dims[i].step;
    span.high = span.low + runs.run;
    out.push_back(span);
    int i = runs.rank - 1;
    while (i >= 0 && ++index[i] == runs.dims[i].count) index[i--] = 0;
    if (i < 0) break;
  }
}

void instruction_spans(const bir::Function& fn, const bir::Instruction& inst, std::vector<Span>& out) {
  for (const bir::Operand& op : inst.ins) append_spans(fn, op, false, true, out);
  for (const bir::Operand& op : inst.outs) append_spans(fn, op, true, true, out);
}

}  // namespace ncc::walrus
