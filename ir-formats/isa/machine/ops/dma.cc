// A DMA transfer: element i of the source goes to element i of the destination. Both sides' loops are refined
// to common dims, so that the inner loop is a memcpy, a strided copy, or a converted row. Source:
// spec/simulator-numerics.md §3.9; DESIGN section 14, M3.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::DmaDescriptor;

namespace {

struct Side {
  std::byte* base;
  std::vector<ByteDim> dims;  // outermost first, the partition dim included
};

Side side_of(const View& view, const isa::Access& access, bool swap_inner) {
  // From the access, not the fused view: a transpose swaps dims as the descriptor gives them.
  Side side{view.base, {}};
  if (access.space != isa::Space::Dram) side.dims.push_back({view.partition_step, view.partitions});
  for (int i = 0; i < access.rank; ++i)
    side.dims.push_back({access.dims[static_cast<size_t>(i)].step * view.element_size,
                         access.dims[static_cast<size_t>(i)].count});
  if (swap_inner) std::swap(side.dims[side.dims.size() - 1], side.dims[side.dims.size() - 2]);
  std::erase_if(side.dims, [](const ByteDim& dim) { return dim.count == 1; });
  return side;
}

struct Loop {
  int64_t count, src_step, dst_step;
};

// Splits both sides' dims at common factors, innermost first. False when the shapes have no common
// refinement.
bool refine(std::vector<ByteDim> src, std::vector<ByteDim> dst, std::vector<Loop>& loops) {
  loops.clear();
  while (!src.empty() && !dst.empty()) {
    ByteDim &a = src.back(), &b = dst.back();
    const int64_t inner = std::min(a.count, b.count);
    if (a.count % inner != 0 || b.count % inner != 0) return false;
    const Loop loop{inner, a.step, b.step};
    // Fuse with the loop inside when both sides run on.
    if (!loops.empty() && loops.back().src_step * loops.back().count == loop.src_step &&
        loops.back().dst_step * loops.back().count == loop.dst_step)
      loops.back().count *= inner;
    else
      loops.push_back(loop);
    for (std::vector<ByteDim>* dims : {&src, &dst}) {
      ByteDim& dim = dims->back();
      dim = {dim.step * inner, dim.count / inner};
      if (dim.count == 1) dims->pop_back();
    }
  }
  std::reverse(loops.begin(), loops.end());
  return true;
}

// Addresses of all elements of a side, for shapes that share no refinement.
std::vector<std::byte*> addresses(const Side& side, int64_t count) {
  std::vector<std::byte*> all{side.base};
  all.reserve(static_cast<size_t>(count));
  for (auto dim = side.dims.rbegin(); dim != side.dims.rend(); ++dim) {
    const size_t inner = all.size();
    for (int64_t k = 1; k < dim->count; ++k)
      for (size_t i = 0; i < inner; ++i) all.push_back(all[i] + k * dim->step);
  }
  return all;
}

template <int kSize>
void copy_strided(const std::byte* src, int64_t src_step, std::byte* dst, int64_t dst_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, kSize);
}

struct Mover {
  Dtype src_dtype, dst_dtype;
  int64_t src_size, dst_size;
  bool raw;

  void move(const std::byte* src, int64_t src_step, std::byte* dst, int64_t dst_step, int64_t count) const {
    if (!raw) return convert(src, src_step, dst, dst_step, count);
    if (src_step == src_size && dst_step == dst_size) {
      std::memmove(dst, src, static_cast<size_t>(count * src_size));
      return;
    }
    switch (src_size) {
      case 1:
        return copy_strided<1>(src, src_step, dst, dst_step, count);
      case 2:
        return copy_strided<2>(src, src_step, dst, dst_step, count);
      case 4:
        return copy_strided<4>(src, src_step, dst, dst_step, count);
      default:
        return copy_strided<8>(src, src_step, dst, dst_step, count);
    }
  }
  void convert(const std::byte* src, int64_t src_step, std::byte* dst, int64_t dst_step,
               int64_t count) const {
    constexpr int64_t kChunk = 1024;
    float values[kChunk];
    std::byte packed[kChunk * 4];
    for (int64_t done = 0; done < count; done += kChunk) {
      const int64_t n = std::min(kChunk, count - done);
      const std::byte* from = src + done * src_step;
      if (src_step != src_size) {
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(packed + i * src_size, from + i * src_step, static_cast<size_t>(src_size));
        from = packed;
      }
      to_f32(src_dtype, from, values, n);
      std::byte* to = dst + done * dst_step;
      if (dst_step == dst_size) {
        from_f32(dst_dtype, values, to, n);
        continue;
      }
      from_f32(dst_dtype, values, packed, n);
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(to + i * dst_step, packed + i * dst_size, static_cast<size_t>(dst_size));
    }
  }
};

// A two-dimensional strided copy in blocks, so that a transpose stays inside the cache.
void copy_blocked(const Mover& mover, const Loop& outer, const Loop& inner, const std::byte* src,
                  std::byte* dst) {
  constexpr int64_t kBlock = 32;
  for (int64_t i = 0; i < inner.count; i += kBlock)
    for (int64_t o = 0; o < outer.count; ++o)
      mover.move(src + o * outer.src_step + i * inner.src_step, inner.src_step,
                 dst + o * outer.dst_step + i * inner.dst_step, inner.dst_step,
                 std::min(kBlock, inner.count - i));
}

void run_loops(const Mover& mover, const Loop* loops, size_t depth, const std::byte* src, std::byte* dst) {
  if (depth == 0) return mover.move(src, mover.src_size, dst, mover.dst_size, 1);
  if (depth == 1) return mover.move(src, loops->src_step, dst, loops->dst_step, loops->count);
  const bool strided = loops[1].src_step != mover.src_size || loops[1].dst_step != mover.dst_size;
  if (depth == 2 && strided && mover.raw) return copy_blocked(mover, loops[0], loops[1], src, dst);
  for (int64_t i = 0; i < loops->count; ++i)
    run_loops(mover, loops + 1, depth - 1, src + i * loops->src_step, dst + i * loops->dst_step);
}

bool is_movable(Dtype dtype) {
  const int64_t size = size_bytes(dtype);
  return size == 1 || size == 2 || size == 4 || size == 8;
}

}  // namespace

Status execute_dma(State& state, const DmaDescriptor& d) {
  View src, dst;
  if (!is_movable(d.src.dtype) || !is_movable(d.dst.dtype))
    return illegal("DMA of {} to {}", info(d.src.dtype).hlo, info(d.dst.dtype).hlo);
  NCC_TRY(state.resolve(d.src, State::Use::Read, "DMA source", src));
  NCC_TRY(state.resolve(d.dst, State::Use::Write, "DMA destination", dst));
  if (d.src.num_elements() != d.dst.num_elements())
    return illegal("DMA of {} elements into {}", d.src.num_elements(), d.dst.num_elements());
  const bool same =
      d.src.dtype == d.dst.dtype ||
      (src.element_size == dst.element_size && !is_float(d.src.dtype) && !is_float(d.dst.dtype) &&
       info(d.src.dtype).bits <= 8 && info(d.dst.dtype).kind != DtypeKind::Signed &&
       info(d.src.dtype).kind != DtypeKind::Signed);  // pred and uint8 are one type on the device
  if (!same && (!is_computable(d.src.dtype) || !is_computable(d.dst.dtype)))
    return illegal("DMA cast of {} to {}", info(d.src.dtype).hlo, info(d.dst.dtype).hlo);
  const int dst_dims = d.dst.rank + (d.dst.space == isa::Space::Dram ? 0 : 1);
  if (d.transpose && !state.arch.has_dma_transpose) return illegal("DMA transpose on {}", state.arch.name);
  if (d.transpose && dst_dims < 2) return illegal("DMA transpose into {} dimensions", dst_dims);
  const Side from = side_of(src, d.src, false), to = side_of(dst, d.dst, d.transpose);
  const Mover mover{d.src.dtype, d.dst.dtype, src.element_size, dst.element_size, same};
  std::vector<Loop> loops;
  if (refine(from.dims, to.dims, loops)) {
    run_loops(mover, loops.data(), loops.size(), from.base, to.base);
  } else {
    const std::vector<std::byte*> a = addresses(from, d.src.num_elements()),
                                  b = addresses(to, d.dst.num_elements());
    for (size_t i = 0; i < a.size(); ++i) mover.move(a[i], mover.src_size, b[i], mover.dst_size, 1);
  }
  state.mark_written(dst);
  return Status::ok();
}

}  // namespace ncc::machine
