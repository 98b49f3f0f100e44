#include "common/dtype/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/diag/status.h"

namespace ncc {
namespace {

constexpr DtypeInfo kRows[] = {
#define DTYPE(id, hlo, mlir, numpy, bits, kind, machine) \
  {Dtype::id, hlo, mlir, numpy, bits, DtypeKind::kind, machine},
#include "common/dtype/dtype.def"
};

// One row per narrow binary format. Value of a normal: (-1)^s * 2^(e - bias) * 1.m
struct NarrowFormat {
  Dtype dtype;
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;   // all-ones exponent, zero mantissa
  bool ieee_nan;       // all-ones exponent, non-zero mantissa is NaN
  uint8_t nan;         // the NaN written; 0 = the format has none
  bool unsigned_zero;  // "fnuz": no -0, its pattern is the NaN
};
constexpr NarrowFormat kNarrow[] = {
    {Dtype::F8E5M2, 5, 2, 15, true, true, 0x7E, false},
    {Dtype::F8E4M3, 4, 3, 7, true, true, 0x7C, false},
    {Dtype::F8E4M3FN, 4, 3, 7, false, false, 0x7F, false},
    {Dtype::F8E4M3B11FNUZ, 4, 3, 11, false, false, 0x80, true},
    {Dtype::F8E5M2FNUZ, 5, 2, 16, false, false, 0x80, true},
    {Dtype::F8E4M3FNUZ, 4, 3, 8, false, false, 0x80, true},
    {Dtype::F8E3M4, 3, 4, 3, true, true, 0x78, false},
    {Dtype::F6E2M3FN, 2, 3, 1, false, false, 0x00, false},
    {Dtype::F6E3M2FN, 3, 2, 3, false, false, 0x00, false},
    {Dtype::F4E2M1FN, 2, 1, 1, false, false, 0x00, false},
};

const NarrowFormat* narrow_format(Dtype dtype) {
  for (const NarrowFormat& row : kNarrow)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

double decode_narrow(const NarrowFormat& f, uint8_t bits) {
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const bool negative = (bits >> sign_shift) & 1;
  const int exponent = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const int all_ones = (1 << f.exponent_bits) - 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (f.unsigned_zero && bits == 0x80) return kNan;
  if (f.dtype == Dtype::F8E4M3FN && (bits & 0x7F) == 0x7F) return kNan;
  if (f.ieee_nan && exponent == all_ones) {
    if (mantissa != 0) return kNan;
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits)
                    : std::ldexp((1 << f.mantissa_bits) + mantissa, exponent - f.bias - f.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

uint8_t encode_narrow(const NarrowFormat& f, double value) {
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const bool negative = std::signbit(value);
  const uint8_t sign = negative ? static_cast<uint8_t>(1 << sign_shift) : 0;
  const int all_ones = (1 << f.exponent_bits) - 1;
  if (std::isnan(value)) return f.unsigned_zero || f.nan == 0 ? f.nan : static_cast<uint8_t>(sign | f.nan);
  // The largest finite pattern.
  int max_finite = (1 << sign_shift) - 1;
  if (f.ieee_nan) max_finite = (all_ones << f.mantissa_bits) - 1;
  if (f.dtype == Dtype::F8E4M3FN) max_finite = 0x7E;
  uint8_t magnitude_bits = 0;
  if (!std::isinf(value) && value != 0) {
    const double magnitude = std::fabs(value);
    int exponent;
    std::frexp(magnitude, &exponent);
    exponent -= 1;  // magnitude = 1.m * 2^exponent
    const int lowest = 1 - f.bias;
    const int quantum = std::max(exponent, lowest) - f.mantissa_bits;
    const double steps = std::nearbyint(std::ldexp(magnitude, -quantum));  // exact scaling, nearest even
    // `steps` counts quanta; adding it to the exponent field's base carries into the exponent by itself.
    const int base = exponent < lowest ? 0 : ((exponent - lowest) << f.mantissa_bits);
    const double pattern = base + steps;
    magnitude_bits = pattern > max_finite ? 0xFF : static_cast<uint8_t>(pattern);
  }
  if (std::isinf(value) || magnitude_bits == 0xFF) {
    if (f.has_infinity) return static_cast<uint8_t>(sign | (all_ones << f.mantissa_bits));
    if (f.nan == 0) return static_cast<uint8_t>(sign | max_finite);  // no NaN to say overflow with: saturate
    return f.unsigned_zero ? f.nan : static_cast<uint8_t>(sign | f.nan);
  }
  if (f.unsigned_zero && magnitude_bits == 0) return 0;
  return static_cast<uint8_t>(sign | magnitude_bits);
}

// double -> float with round-to-odd: a second rounding to fewer bits is then correct.
float round_to_odd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) {
    if (std::isinf(nearest) && std::isfinite(value))
      return std::copysign(std::numeric_limits<float>::max(), nearest);
    return nearest;
  }
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) bits -= 1;  // toward zero
  return std::bit_cast<float>(bits | 1u);
}

template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  // max()+1 is exactly representable, max() itself may not be.
  constexpr double above = 2.0 * (std::numeric_limits<T>::max() / 2 + 1);
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= above) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T>
T read(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void write(void* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

int64_t sign_extend(uint8_t bits, int width) {
  const uint64_t shifted = static_cast<uint64_t>(bits) << (64 - width);
  return static_cast<int64_t>(shifted) >> (64 - width);
}

}  // namespace

const DtypeInfo& info(Dtype dtype) { return kRows[static_cast<size_t>(dtype)]; }

std::optional<Dtype> dtype_from_hlo(std::string_view name) {
  for (const DtypeInfo& row : kRows)
    if (row.hlo == name) return row.dtype;
  return std::nullopt;
}
std::optional<Dtype> dtype_from_mlir(std::string_view name) {
  for (const DtypeInfo& row : kRows)
    if (!row.mlir.empty() && row.mlir == name) return row.dtype;
  return std::nullopt;
}
std::optional<Dtype> dtype_from_machine(std::string_view name) {
  for (const DtypeInfo& row : kRows)
    if (!row.machine.empty() && row.machine == name && row.dtype != Dtype::Pred) return row.dtype;
  return std::nullopt;
}

uint16_t bf16_from_f32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x0040);
  bits += 0x7FFF + ((bits >> 16) & 1);
  return static_cast<uint16_t>(bits >> 16);
}
float f32_from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f16_from_f32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t a = bits & 0x7FFFFFFF;
  if (a > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00);
  if (a >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);
  if (a >= 0x38800000) return static_cast<uint16_t>(sign | ((a + ((a >> 13) & 1) - 0x37FFF001) >> 13));
  const float shifted = std::bit_cast<float>(a) + 0.5f;  // lands the 2^-24 quantum on the last mantissa bit
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
}
float f32_from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}
uint16_t bf16_from_f64(double value) { return bf16_from_f32(round_to_odd(value)); }
uint16_t f16_from_f64(double value) { return f16_from_f32(round_to_odd(value)); }

float f32r_from_f32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (!std::isfinite(value)) return value;
  bits += 0x7FF + ((bits >> 12) & 1);
  return std::bit_cast<float>(bits & 0xFFFFF000);
}

double load_as_double(Dtype dtype, const void* p) {
  switch (dtype) {
    case Dtype::F64:
      return read<double>(p);
    case Dtype::F32:
    case Dtype::F32R:
      return read<float>(p);
    case Dtype::BF16:
      return f32_from_bf16(read<uint16_t>(p));
    case Dtype::F16:
      return f32_from_f16(read<uint16_t>(p));
    case Dtype::U64:
      return static_cast<double>(read<uint64_t>(p));
    case Dtype::F8E8M0FNU: {
      const uint8_t bits = read<uint8_t>(p);
      return bits == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
    }
    default:
      if (const NarrowFormat* format = narrow_format(dtype)) return decode_narrow(*format, read<uint8_t>(p));
      return static_cast<double>(load_as_int64(dtype, p));
  }
}

void store_from_double(Dtype dtype, void* p, double value) {
  switch (dtype) {
    case Dtype::F64:
      return write(p, value);
    case Dtype::F32:
      return write(p, static_cast<float>(value));
    case Dtype::F32R:
      return write(p, f32r_from_f32(static_cast<float>(value)));
    case Dtype::BF16:
      return write(p, bf16_from_f64(value));
    case Dtype::F16:
      return write(p, f16_from_f64(value));
    case Dtype::Pred:
      return write<uint8_t>(p, value != 0);
    case Dtype::S1:
    case Dtype::S2:
    case Dtype::S4: {
      const double half = std::ldexp(1.0, info(dtype).bits - 1);
      const double whole = std::clamp(std::trunc(std::isnan(value) ? 0 : value), -half, half - 1);
      return write<uint8_t>(p, static_cast<uint8_t>(static_cast<int64_t>(whole)));
    }
    case Dtype::U1:
    case Dtype::U2:
    case Dtype::U4: {
      const double most = std::ldexp(1.0, info(dtype).bits) - 1;
      return write<uint8_t>(p, static_cast<uint8_t>(std::clamp(std::isnan(value) ? 0 : value, 0.0, most)));
    }
    case Dtype::S8:
      return write(p, saturate<int8_t>(value));
    case Dtype::S16:
      return write(p, saturate<int16_t>(value));
    case Dtype::S32:
      return write(p, saturate<int32_t>(value));
    case Dtype::S64:
      return write(p, saturate<int64_t>(value));
    case Dtype::U8:
      return write(p, saturate<uint8_t>(value));
    case Dtype::U16:
      return write(p, saturate<uint16_t>(value));
    case Dtype::U32:
      return write(p, saturate<uint32_t>(value));
    case Dtype::U64:
      return write(p, saturate<uint64_t>(value));
    case Dtype::F8E8M0FNU: {
      if (!(value > 0) || std::isinf(value)) return write<uint8_t>(p, 0xFF);
      int exponent;
      const double fraction =
          std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
      exponent -= 1;
      // Nearest power of two; the significand 1 is odd, so that the midpoint 1.5 goes up, as in XLA.
      if (fraction >= 0.75) exponent += 1;
      if (exponent > 127) return write<uint8_t>(p, 0xFF);
      return write<uint8_t>(p, static_cast<uint8_t>(std::max(exponent + 127, 0)));
    }
    default:
      if (const NarrowFormat* format = narrow_format(dtype)) return write(p, encode_narrow(*format, value));
      NCC_CHECK(false, "store of a double into element type {}", info(dtype).hlo);
  }
}

int64_t load_as_int64(Dtype dtype, const void* p) {
  switch (dtype) {
    case Dtype::Pred:
      return read<uint8_t>(p) != 0;
    case Dtype::S1:
    case Dtype::S2:
    case Dtype::S4:
      return sign_extend(read<uint8_t>(p), info(dtype).bits);
    case Dtype::S8:
      return read<int8_t>(p);
    case Dtype::S16:
      return read<int16_t>(p);
    case Dtype::S32:
      return read<int32_t>(p);
    case Dtype::S64:
    case Dtype::U64:
      return read<int64_t>(p);
    case Dtype::U1:
      return read<uint8_t>(p) & 1;
    case Dtype::U2:
      return read<uint8_t>(p) & 3;
    case Dtype::U4:
      return read<uint8_t>(p) & 15;
    case Dtype::U8:
      return read<uint8_t>(p);
    case Dtype::U16:
      return read<uint16_t>(p);
    case Dtype::U32:
      return read<uint32_t>(p);
    default:
      NCC_CHECK(is_float(dtype), "load of an integer from element type {}", info(dtype).hlo);
      return saturate<int64_t>(load_as_double(dtype, p));
  }
}

void store_from_int64(Dtype dtype, void* p, int64_t value) {
  switch (dtype) {
    case Dtype::Pred:
      return write<uint8_t>(p, value != 0);
    case Dtype::S1:
    case Dtype::U1:
      return write<uint8_t>(p, static_cast<uint8_t>(value & 1));
    case Dtype::S2:
    case Dtype::U2:
      return write<uint8_t>(p, static_cast<uint8_t>(value & 3));
    case Dtype::S4:
    case Dtype::U4:
      return write<uint8_t>(p, static_cast<uint8_t>(value & 15));
    case Dtype::S8:
    case Dtype::U8:
      return write(p, static_cast<uint8_t>(value));
    case Dtype::S16:
    case Dtype::U16:
      return write(p, static_cast<uint16_t>(value));
    case Dtype::S32:
    case Dtype::U32:
      return write(p, static_cast<uint32_t>(value));
    case Dtype::S64:
    case Dtype::U64:
      return write(p, value);
    case Dtype::F32:
      return write(p, static_cast<float>(value));
    case Dtype::BF16:
    case Dtype::F16: {
      // Through round-to-odd: int64 -> double may already round, so split off what double cannot hold.
      const double high = static_cast<double>(value);
      const int64_t rest = high >= 0x1p63 ? 0 : value - static_cast<int64_t>(high);
      double odd = high;
      if (rest != 0)
        odd = std::nextafter(high, rest > 0 ? std::numeric_limits<double>::infinity()
                                            : -std::numeric_limits<double>::infinity());
      return store_from_double(dtype, p, odd);
    }
    default:
      return store_from_double(dtype, p, static_cast<double>(value));
  }
}

}  // namespace ncc
