// Dimensions of size 1 are dropped and dimensions that are contiguous with each other on both sides are
// merged; what is left runs as rows: a memcpy, a fill, a strided loop, or, when source and destination are
// contiguous along different dimensions, in square tiles.
#include "ir-formats/hlo/interpreter/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "common/parallel/parallel.h"

namespace ncc::hlo {
namespace {

struct Dim {
  int64_t size, src, dst;
};

std::vector<Dim> merged_dims(std::span<const int64_t> dims, std::span<const int64_t> src,
                             std::span<const int64_t> dst) {
  std::vector<Dim> merged;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (!merged.empty()) {
      Dim& outer = merged.back();
      if (outer.src == src[d] * dims[d] && outer.dst == dst[d] * dims[d]) {
        outer = {outer.size * dims[d], src[d], dst[d]};
        continue;
      }
    }
    merged.push_back({dims[d], src[d], dst[d]});
  }
  return merged;
}

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void copy_row(int64_t n, const T* src, int64_t src_stride, T* dst, int64_t dst_stride) {
  if (src_stride == 1 && dst_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  } else if (src_stride == 0 && dst_stride == 1) {
    std::fill(dst, dst + n, *src);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

// The two innermost loops: `a` is contiguous in the source, `b` in the destination.
template <class T>
void copy_tiles(const Dim& a, const Dim& b, const T* src, T* dst) {
  constexpr int64_t kTile = 32;
  for (int64_t a0 = 0; a0 < a.size; a0 += kTile) {
    const int64_t a1 = std::min(a.size, a0 + kTile);
    for (int64_t b0 = 0; b0 < b.size; b0 += kTile) {
      const int64_t b1 = std::min(b.size, b0 + kTile);
      for (int64_t i = a0; i < a1; ++i) {
        const T* from = src + i * a.src;
        T* to = dst + i * a.dst;
        for (int64_t j = b0; j < b1; ++j) to[j * b.dst] = from[j * b.src];
      }
    }
  }
}

template <class T>
void copy_nest(std::span<const Dim> dims, const T* src, T* dst) {
  if (dims.empty()) {
    *dst = *src;
  } else if (dims.size() == 1) {
    copy_row(dims[0].size, src, dims[0].src, dst, dims[0].dst);
  } else if (dims.size() == 2 && dims[1].src != 1 && dims[1].src != 0 && dims[0].src == 1) {
    copy_tiles(dims[0], dims[1], src, dst);
  } else {
    for (int64_t i = 0; i < dims[0].size; ++i)
      copy_nest(dims.subspan(1), src + i * dims[0].src, dst + i * dims[0].dst);
  }
}

// Order of loops: the destination's natural order, but a dimension contiguous in the source comes next to
// last, so that the tile loop sees it.
void order_for_tiles(std::vector<Dim>& dims) {
  if (dims.size() < 3 || dims.back().src == 1) return;
  for (size_t d = 0; d + 2 < dims.size(); ++d) {
    if (dims[d].src != 1) continue;
    std::rotate(dims.begin() + static_cast<int64_t>(d), dims.begin() + static_cast<int64_t>(d) + 1,
                dims.end() - 1);
    return;
  }
}

template <class T>
void copy_typed(std::vector<Dim> dims, const std::byte* src_bytes, std::byte* dst_bytes) {
  const T* src = reinterpret_cast<const T*>(src_bytes);
  T* dst = reinterpret_cast<T*>(dst_bytes);
  order_for_tiles(dims);
  int64_t total = 1;
  for (const Dim& dim : dims) total *= dim.size;
  constexpr int64_t kParallelElements = 1 << 18;
  if (dims.empty() || total < kParallelElements) return copy_nest<T>(dims, src, dst);
  // The longest dimension is split, so that one long row is shared as well.
  const size_t split = static_cast<size_t>(
      std::max_element(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.size < b.size; }) -
      dims.begin());
  const int64_t grain = std::max<int64_t>(1, dims[split].size * (kParallelElements / 4) / total);
  parallel_for(dims[split].size, grain, [&](int64_t begin, int64_t end) {
    std::vector<Dim> part = dims;
    part[split].size = end - begin;
    copy_nest<T>(part, src + begin * dims[split].src, dst + begin * dims[split].dst);
  });
}

}  // namespace

std::vector<int64_t> row_major_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

void strided_copy(int64_t width_bytes, std::span<const int64_t> dims, const std::byte* src,
                  std::span<const int64_t> src_strides, std::byte* dst,
                  std::span<const int64_t> dst_strides) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  std::vector<Dim> merged = merged_dims(dims, src_strides, dst_strides);
  switch (width_bytes) {
    case 1:
      return copy_typed<uint8_t>(std::move(merged), src, dst);
    case 2:
      return copy_typed<uint16_t>(std::move(merged), src, dst);
    case 4:
      return copy_typed<uint32_t>(std::move(merged), src, dst);
    case 8:
      return copy_typed<uint64_t>(std::move(merged), src, dst);
    default:
      return copy_typed<Bytes16>(std::move(merged), src, dst);
  }
}

void fill_elements(std::byte* dst, const std::byte* element, int64_t width_bytes, int64_t n) {
  const int64_t zero = 0, one = 1;
  strided_copy(width_bytes, {&n, 1}, element, {&zero, 1}, dst, {&one, 1});
}

bool next_index(std::vector<int64_t>& index, std::span<const int64_t> dims) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace ncc::hlo
