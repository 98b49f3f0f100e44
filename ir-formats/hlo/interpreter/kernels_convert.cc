// Conversions between element types: one correct rounding from the source type; float to integer truncates
// and saturates, NaN gives 0; integer to integer keeps the low bits. Source: spec/stablehlo-text.md §3.4.
#include <immintrin.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "ir-formats/hlo/interpreter/kernel_loops.h"

namespace ncc::hlo {
namespace {

// bf16 and f16 as two distinct storage types; conversions inline so that the loops vectorise.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

inline uint16_t bf16_bits(float value) {
  uint32_t bits;
  static_assert(sizeof bits == sizeof value);
  __builtin_memcpy(&bits, &value, sizeof bits);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x0040;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}
inline float from_bf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  __builtin_memcpy(&value, &wide, sizeof value);
  return value;
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (requires { x.real(); }) {  // complex source
    if constexpr (requires(To t) { t.real(); }) {
      using Part = typename To::value_type;
      return {static_cast<Part>(x.real()), static_cast<Part>(x.imag())};
    } else {
      return convert<To>(x.real());
    }
  } else if constexpr (requires(To t) { t.real(); }) {
    return {static_cast<typename To::value_type>(x), 0};
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_same_v<To, Bf16>) {
    if constexpr (std::is_same_v<From, float>) return {bf16_bits(x)};
    return {bf16_from_f64(static_cast<double>(x))};
  } else if constexpr (std::is_same_v<To, F16>) {
    return {f16_from_f64(static_cast<double>(x))};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    // max() + 1 is exactly representable, max() itself may not be.
    constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    if (x != x) return 0;
    if (x <= kLow) return std::numeric_limits<To>::min();
    if (x >= kAbove) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_lanes(const Lanes& a) {
  const From* x = static_cast<const From*>(a.in[0]);
  To* out = static_cast<To*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = convert<To>(x[i]);
}

// 64-bit integers do not fit a double: the narrow floats are rounded from the integer itself.
template <class From, Dtype kTo>
void convert_wide_int(const Lanes& a) {
  const From* x = static_cast<const From*>(a.in[0]);
  uint8_t* out = static_cast<uint8_t*>(a.out);
  const int64_t width = size_bytes(kTo);
  for (int64_t i = 0; i < a.n; ++i) {
    if constexpr (std::is_unsigned_v<From>) {
      if (x[i] > static_cast<From>(std::numeric_limits<int64_t>::max())) {
        // Halve with a sticky low bit: no narrow float sees the difference, and the scale is undone exactly.
        const int64_t half = static_cast<int64_t>((x[i] >> 1) | (x[i] & 1));
        const double odd = static_cast<double>(half | ((half & 0xFFF) != 0 ? 0x1000 : 0)) * 2;
        store_from_double(kTo, out + i * width, odd);
        continue;
      }
    }
    store_from_int64(kTo, out + i * width, static_cast<int64_t>(x[i]));
  }
}

void f32_to_f16(const Lanes& a) {
  const float* x = static_cast<const float*>(a.in[0]);
  uint16_t* out = static_cast<uint16_t*>(a.out);
  int64_t i = 0;
  for (; i + 8 <= a.n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < a.n; ++i) out[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
}

void f16_to_f32(const Lanes& a) {
  const uint16_t* x = static_cast<const uint16_t*>(a.in[0]);
  float* out = static_cast<float*>(a.out);
  int64_t i = 0;
  for (; i + 8 <= a.n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < a.n; ++i) out[i] = _cvtsh_ss(x[i]);
}

void bf16_to_f32(const Lanes& a) {
  const uint16_t* x = static_cast<const uint16_t*>(a.in[0]);
  float* out = static_cast<float*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = from_bf16(x[i]);
}

// One-byte floats by table.
template <Dtype kType>
void byte_float_to_f32(const Lanes& a) {
  static const std::array<float, 256> kTable = [] {
    std::array<float, 256> table{};
    for (int bits = 0; bits < 256; ++bits) {
      const uint8_t pattern = static_cast<uint8_t>(bits);
      table[static_cast<size_t>(bits)] = static_cast<float>(load_as_double(kType, &pattern));
    }
    return table;
  }();
  const uint8_t* x = static_cast<const uint8_t*>(a.in[0]);
  float* out = static_cast<float*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) out[i] = kTable[x[i]];
}

// Rare targets, through double (exact for every source of at most 53 significant bits).
template <class From, Dtype kTo>
void convert_through_double(const Lanes& a) {
  const From* x = static_cast<const From*>(a.in[0]);
  uint8_t* out = static_cast<uint8_t*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) store_from_double(kTo, out + i * size_bytes(kTo), convert<double>(x[i]));
}

// 2- and 4-bit integers: floats saturate, integers wrap.
template <class From, Dtype kTo>
void convert_to_sub_byte(const Lanes& a) {
  const From* x = static_cast<const From*>(a.in[0]);
  uint8_t* out = static_cast<uint8_t*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    if constexpr (std::is_integral_v<From>) {
      store_from_int64(kTo, out + i, static_cast<int64_t>(x[i]));
    } else {
      store_from_double(kTo, out + i, convert<double>(x[i]));
    }
  }
}

template <int kBits, bool kSigned>
void widen_sub_byte(const Lanes& a) {
  const uint8_t* x = static_cast<const uint8_t*>(a.in[0]);
  uint8_t* out = static_cast<uint8_t*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    const uint8_t raised = static_cast<uint8_t>(x[i] << (8 - kBits));
    out[i] = kSigned ? static_cast<uint8_t>(static_cast<int8_t>(raised) >> (8 - kBits))
                     : static_cast<uint8_t>(raised >> (8 - kBits));
  }
}

template <class From, Dtype kTo>
Kernel to_rare_float() {
  if constexpr (std::is_integral_v<From> && sizeof(From) == 8) return convert_wide_int<From, kTo>;
  return convert_through_double<From, kTo>;
}

template <class From>
Kernel from_type(Dtype to) {
  constexpr bool kWideInt = std::is_integral_v<From> && sizeof(From) == 8;
  switch (to) {
    case Dtype::Pred:
      return convert_lanes<From, bool>;
    case Dtype::F32:
      return convert_lanes<From, float>;
    case Dtype::F64:
      return convert_lanes<From, double>;
    case Dtype::C64:
      return convert_lanes<From, std::complex<float>>;
    case Dtype::C128:
      return convert_lanes<From, std::complex<double>>;
    case Dtype::BF16:
      if constexpr (kWideInt) return convert_wide_int<From, Dtype::BF16>;
      return convert_lanes<From, Bf16>;
    case Dtype::F16:
      if constexpr (kWideInt) return convert_wide_int<From, Dtype::F16>;
      if constexpr (std::is_same_v<From, float>) return f32_to_f16;
      return convert_lanes<From, F16>;
#define NCC_RARE(Id) \
  case Dtype::Id:    \
    return to_rare_float<From, Dtype::Id>();
      NCC_RARE(F32R)
      NCC_RARE(F8E5M2)
      NCC_RARE(F8E4M3)
      NCC_RARE(F8E4M3FN)
      NCC_RARE(F8E4M3B11FNUZ)
      NCC_RARE(F8E5M2FNUZ)
      NCC_RARE(F8E4M3FNUZ)
      NCC_RARE(F8E3M4)
      NCC_RARE(F8E8M0FNU)
      NCC_RARE(F6E2M3FN)
      NCC_RARE(F6E3M2FN)
      NCC_RARE(F4E2M1FN)
#undef NCC_RARE
    case Dtype::S1:
      return convert_to_sub_byte<From, Dtype::S1>;
    case Dtype::S2:
      return convert_to_sub_byte<From, Dtype::S2>;
    case Dtype::S4:
      return convert_to_sub_byte<From, Dtype::S4>;
    case Dtype::U1:
      return convert_to_sub_byte<From, Dtype::U1>;
    case Dtype::U2:
      return convert_to_sub_byte<From, Dtype::U2>;
    case Dtype::U4:
      return convert_to_sub_byte<From, Dtype::U4>;
    default:
      return with_int_type(to, []<class To>() -> Kernel { return convert_lanes<From, To>; });
  }
}

}  // namespace

Dtype compute_type(Dtype storage) {
  if (is_integer(storage) && info(storage).bits < 8) return is_signed_int(storage) ? Dtype::S8 : Dtype::U8;
  if (is_float(storage) && storage != Dtype::F64) return Dtype::F32;
  return storage;
}

Kernel convert_kernel(Dtype from, Dtype to) {
  switch (from) {
    case Dtype::Pred:
      return from_type<bool>(to);
    case Dtype::F32:
      return from_type<float>(to);
    case Dtype::F64:
      return from_type<double>(to);
    case Dtype::C64:
      return from_type<std::complex<float>>(to);
    case Dtype::C128:
      return from_type<std::complex<double>>(to);
    default:
      return with_int_type(from, [to]<class From>() { return from_type<From>(to); });
  }
}

Kernel widen_kernel(Dtype storage) {
  switch (storage) {
    case Dtype::BF16:
      return bf16_to_f32;
    case Dtype::F16:
      return f16_to_f32;
    case Dtype::F32R:
      return copy_kernel(4);
    case Dtype::S1:
      return widen_sub_byte<1, true>;
    case Dtype::S2:
      return widen_sub_byte<2, true>;
    case Dtype::S4:
      return widen_sub_byte<4, true>;
    case Dtype::U1:
      return widen_sub_byte<1, false>;
    case Dtype::U2:
      return widen_sub_byte<2, false>;
    case Dtype::U4:
      return widen_sub_byte<4, false>;
#define NCC_TABLE(Id) \
  case Dtype::Id:     \
    return byte_float_to_f32<Dtype::Id>;
      NCC_TABLE(F8E5M2)
      NCC_TABLE(F8E4M3)
      NCC_TABLE(F8E4M3FN)
      NCC_TABLE(F8E4M3B11FNUZ)
      NCC_TABLE(F8E5M2FNUZ)
      NCC_TABLE(F8E4M3FNUZ)
      NCC_TABLE(F8E3M4)
      NCC_TABLE(F8E8M0FNU)
      NCC_TABLE(F6E2M3FN)
      NCC_TABLE(F6E3M2FN)
      NCC_TABLE(F4E2M1FN)
#undef NCC_TABLE
    default:
      return nullptr;
  }
}

}  // namespace ncc::hlo
