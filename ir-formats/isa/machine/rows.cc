#include "ir-formats/isa/machine/rows.h"

#include <immintrin.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "common/dtype/dtype.h"

namespace ncc::machine {
namespace {

// One type per storage format; `load` and `store` convert one element and vectorise over dense arrays.
struct F32Format {
  using Bits = float;
  static float load(float x) { return x; }
  static float store(float x) { return x; }
};
struct F32RFormat {
  using Bits = float;
  static float load(float x) { return x; }
  static float store(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7FF + ((bits >> 12) & 1)) & 0xFFFFF000;
    return std::bit_cast<float>((bits & 0x7F800000) == 0x7F800000 ? bits : rounded);
  }
};
struct Bf16Format {
  using Bits = uint16_t;
  static float load(uint16_t x) { return std::bit_cast<float>(static_cast<uint32_t>(x) << 16); }
  static uint16_t store(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = bits + 0x7FFF + ((bits >> 16) & 1);
    return static_cast<uint16_t>((x != x ? bits | 0x400000 : rounded) >> 16);
  }
};
struct F16Format {
  using Bits = uint16_t;
  static float load(uint16_t x) { return _cvtsh_ss(x); }
  static uint16_t store(float x) { return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }
};
template <class T>
struct IntFormat {
  using Bits = T;
  static float load(T x) { return static_cast<float>(x); }
  static T store(float x) {
    constexpr T kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
    const float rounded = std::nearbyintf(x);
    const T of_nan = std::bit_cast<int32_t>(x) < 0 ? kMin : kMax;
    if constexpr (sizeof(T) < 4) {
      const float low = static_cast<float>(kMin), high = static_cast<float>(kMax);
      const float inside = rounded < low ? low : rounded > high ? high : rounded;
      const int32_t value = static_cast<int32_t>(x != x ? 0.0f : inside);
      return static_cast<T>(x != x ? of_nan : value);
    } else if constexpr (std::is_signed_v<T>) {
      const bool fits = rounded >= -0x1p31f && rounded < 0x1p31f;
      const int32_t value = static_cast<int32_t>(fits ? rounded : 0.0f);
      return fits ? value : of_nan;  // the limit of the sign, also for what is too large
    } else {
      const bool fits = rounded >= 0.0f && rounded < 0x1p32f;
      const float safe = fits ? rounded : 0.0f;
      const bool upper = safe >= 0x1p31f;
      const auto value = static_cast<uint32_t>(static_cast<int32_t>(upper ? safe - 0x1p31f : safe));
      return fits ? value + (upper ? 0x80000000u : 0u) : of_nan;
    }
  }
};
// 8-bit floats: a table of all values one way; rounding of the bits to nearest even the other. kLargest is
// the largest finite pattern, kOverflow what is written beyond it (infinity, or NaN in a format without).
template <Dtype kDtype, int kMantissa, int kBias, uint32_t kLargest, uint32_t kOverflow, uint32_t kNan>
struct Fp8Format {
  using Bits = uint8_t;
  static const std::array<float, 256>& table() {
    static const std::array<float, 256> values = [] {
      std::array<float, 256> all{};
      for (int i = 0; i < 256; ++i) {
        const auto bits = static_cast<uint8_t>(i);
        all[static_cast<size_t>(i)] = static_cast<float>(load_as_double(kDtype, &bits));
      }
      return all;
    }();
    return values;
  }
  static float load(uint8_t x) { return table()[x]; }
  static uint8_t store(float x) {
    constexpr int kShift = 23 - kMantissa;
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << kMantissa;
    constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(127 - kBias + 1) << 23;
    constexpr uint32_t kQuantum = static_cast<uint32_t>(127 + 23 + 1 - kBias - kMantissa)
                                  << 23;  // 2^23 subnormal steps
    const uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7FFFFFFF;
    const uint32_t rounded = magnitude + ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1);
    const uint32_t normal = (rounded >> kShift) - kRebias;
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kQuantum);
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - kQuantum;
    uint32_t result = magnitude < kSmallestNormal ? subnormal : normal;
    result =
        magnitude >= 0x7F800000 || (magnitude >= kSmallestNormal && normal > kLargest) ? kOverflow : result;
    result = magnitude > 0x7F800000 ? kNan : result;
    return static_cast<uint8_t>(result | ((bits >> 24) & 0x80));
  }
};

template <class Body>
void with_format(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::F32:
      return body(F32Format{});
    case Dtype::F32R:
      return body(F32RFormat{});
    case Dtype::BF16:
      return body(Bf16Format{});
    case Dtype::F16:
      return body(F16Format{});
    case Dtype::S32:
      return body(IntFormat<int32_t>{});
    case Dtype::U32:
      return body(IntFormat<uint32_t>{});
    case Dtype::S16:
      return body(IntFormat<int16_t>{});
    case Dtype::U16:
      return body(IntFormat<uint16_t>{});
    case Dtype::S8:
      return body(IntFormat<int8_t>{});
    case Dtype::U8:
    case Dtype::Pred:
    case Dtype::F8E8M0FNU:  // moved and converted as a byte (spec/simulator-numerics.md §5.2)
      return body(IntFormat<uint8_t>{});
    case Dtype::F8E5M2:
      return body(Fp8Format<Dtype::F8E5M2, 2, 15, 0x7B, 0x7C, 0x7E>{});
    case Dtype::F8E4M3:
      return body(Fp8Format<Dtype::F8E4M3, 3, 7, 0x77, 0x78, 0x7C>{});
    case Dtype::F8E4M3FN:
      return body(Fp8Format<Dtype::F8E4M3FN, 3, 7, 0x7E, 0x7F, 0x7F>{});
    case Dtype::F8E3M4:
      return body(Fp8Format<Dtype::F8E3M4, 4, 3, 0x6F, 0x70, 0x78>{});
    default:
      NCC_CHECK(false, "the machine computes on element type {}", info(dtype).hlo);
  }
}

// Calls body(address of the first element, byte step, count, index of the first element) for each innermost
// run.
template <class Body>
void for_each_inner(const View& view, std::byte* row, const Body& body) {
  const ByteDim inner = view.dims[view.rank - 1];
  if (view.rank == 1) return body(row, inner.step, inner.count, int64_t{0});
  std::array<int64_t, isa::kMaxFreeDims> index{};
  int64_t done = 0;
  while (true) {
    body(row, inner.step, inner.count, done);
    done += inner.count;
    int d = view.rank - 2;
    for (; d >= 0; --d) {
      row += view.dims[d].step;
      if (++index[d] < view.dims[d].count) break;
      row -= view.dims[d].step * view.dims[d].count;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class T>
T load_as(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// out[i] = convert(element i) for every element of the row.
template <class T, class Out, class Convert>
void gather(const View& view, int partition, Out* out, const Convert& convert) {
  for_each_inner(view, view.row(partition),
                 [&](const std::byte* at, int64_t step, int64_t count, int64_t first) {
                   Out* o = out + first;
                   if (step == static_cast<int64_t>(sizeof(T))) {
                     const T* in = reinterpret_cast<const T*>(at);
                     for (int64_t i = 0; i < count; ++i) o[i] = convert(in[i]);
                   } else if (step == 0) {
                     const Out value = convert(load_as<T>(at));
                     for (int64_t i = 0; i < count; ++i) o[i] = value;
                   } else {
                     for (int64_t i = 0; i < count; ++i) o[i] = convert(load_as<T>(at + i * step));
                   }
                 });
}
template <class T, class In, class Convert>
void scatter(const View& view, int partition, const In* in, const Convert& convert) {
  for_each_inner(view, view.row(partition), [&](std::byte* at, int64_t step, int64_t count, int64_t first) {
    const In* source = in + first;
    if (step == static_cast<int64_t>(sizeof(T))) {
      T* out = reinterpret_cast<T*>(at);
      for (int64_t i = 0; i < count; ++i) out[i] = convert(source[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const T value = convert(source[i]);
        std::memcpy(at + i * step, &value, sizeof value);
      }
    }
  });
}

// Half precision has vector conversions that the compiler does not find by itself.
void load_f16(const View& view, int partition, float* out) {
  for_each_inner(
      view, view.row(partition), [&](const std::byte* at, int64_t step, int64_t count, int64_t first) {
        int64_t i = 0;
        if (step == 2)
          for (; i + 8 <= count; i += 8)
            _mm256_storeu_ps(out + first + i,
                             _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 2 * i))));
        for (; i < count; ++i) out[first + i] = F16Format::load(load_as<uint16_t>(at + i * step));
      });
}
void store_f16(const View& view, int partition, const float* in) {
  for_each_inner(view, view.row(partition), [&](std::byte* at, int64_t step, int64_t count, int64_t first) {
    int64_t i = 0;
    if (step == 2)
      for (; i + 8 <= count; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 2 * i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(in + first + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < count; ++i) {
      const uint16_t bits = F16Format::store(in[first + i]);
      std::memcpy(at + i * step, &bits, sizeof bits);
    }
  });
}

// Calls body with a value of the unsigned type of the element's size.
template <class Body>
void with_storage(int element_size, const Body& body) {
  if (element_size == 1) return body(uint8_t{});
  if (element_size == 2) return body(uint16_t{});
  return body(uint32_t{});
}

}  // namespace

bool is_computable(Dtype dtype) {
  switch (dtype) {
    case Dtype::F32:
    case Dtype::F32R:
    case Dtype::BF16:
    case Dtype::F16:
    case Dtype::S32:
    case Dtype::U32:
    case Dtype::S16:
    case Dtype::U16:
    case Dtype::S8:
    case Dtype::U8:
    case Dtype::Pred:
    case Dtype::F8E8M0FNU:
    case Dtype::F8E5M2:
    case Dtype::F8E4M3:
    case Dtype::F8E4M3FN:
    case Dtype::F8E3M4:
      return true;
    default:
      return false;
  }
}

void load_row(const View& view, int partition, float* out) {
  if (view.dtype == Dtype::F16) return load_f16(view, partition, out);
  with_format(view.dtype, [&](auto format) {
    using Format = decltype(format);
    gather<typename Format::Bits>(view, partition, out,
                                  [](typename Format::Bits x) { return Format::load(x); });
  });
}

void store_row(const View& view, int partition, const float* in) {
  if (view.dtype == Dtype::F16) return store_f16(view, partition, in);
  with_format(view.dtype, [&](auto format) {
    using Format = decltype(format);
    scatter<typename Format::Bits>(view, partition, in, [](float x) { return Format::store(x); });
  });
}

void load_row_bits(const View& view, int partition, bool sign_extend, uint32_t* out) {
  with_storage(view.element_size, [&](auto storage) {
    using T = decltype(storage);
    if (sign_extend)
      gather<T>(view, partition, out, [](T x) {
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<std::make_signed_t<T>>(x)));
      });
    else
      gather<T>(view, partition, out, [](T x) { return static_cast<uint32_t>(x); });
  });
}

void store_row_bits(const View& view, int partition, const uint32_t* in) {
  with_storage(view.element_size, [&](auto storage) {
    using T = decltype(storage);
    scatter<T>(view, partition, in, [](uint32_t x) { return static_cast<T>(x); });
  });
}

void load_row_nonzero(const View& view, int partition, uint8_t* out) {
  // For floats the sign bit is no part of the value; every other non-zero pattern is a non-zero value.
  const bool is_signed_zero = is_float(view.dtype);
  with_storage(view.element_size, [&](auto storage) {
    using T = decltype(storage);
    const T mask =
        static_cast<T>(is_signed_zero ? std::numeric_limits<T>::max() >> 1 : std::numeric_limits<T>::max());
    gather<T>(view, partition, out, [mask](T x) { return static_cast<uint8_t>((x & mask) != 0); });
  });
}

namespace {

View dense(Dtype dtype, const void* data, int64_t n) {
  View view;
  view.base = static_cast<std::byte*>(const_cast<void*>(data));
  view.dtype = dtype;
  view.element_size = static_cast<int>(size_bytes(dtype));
  view.dims[0] = {view.element_size, n};
  view.elements = n;
  return view;
}

}  // namespace

void to_f32(Dtype dtype, const void* in, float* out, int64_t n) { load_row(dense(dtype, in, n), 0, out); }
void from_f32(Dtype dtype, const float* in, void* out, int64_t n) { store_row(dense(dtype, out, n), 0, in); }

const float* row_as_f32(const View& view, int partition, float* scratch) {
  if (view.dtype == Dtype::F32 && view.contiguous())
    return reinterpret_cast<const float*>(view.row(partition));
  load_row(view, partition, scratch);
  return scratch;
}

float* scratch_row(int slot, int64_t elements) {
  struct Row {
    std::unique_ptr<float[]> data;
    int64_t capacity = 0;
  };
  thread_local std::array<Row, kScratchSlots> rows;
  Row& row = rows[static_cast<size_t>(slot)];
  if (row.capacity < elements) {
    row.capacity = std::max<int64_t>(elements, 4096);
    row.data = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(row.capacity));
  }
  return row.data.get();
}

}  // namespace ncc::machine
