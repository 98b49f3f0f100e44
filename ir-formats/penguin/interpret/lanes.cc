#include "ir-formats/penguin/interpret/lanes.h"

#include <cmath>
#include <cstring>

namespace ncc::penguin {
namespace {

template <class T, class Out, class Decode>
void load_as(std::vector<Out>& out, const std::byte* base, int64_t step, int64_t count, Decode&& decode) {
  const T* from = reinterpret_cast<const T*>(base);
  for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = decode(from[i * step]);
}
template <class T>
void load_integer(Lanes& lanes, const std::byte* base, int64_t step, int64_t count) {
  load_as<T>(lanes.integer, base, step, count, [](T value) { return static_cast<int64_t>(value); });
}

template <class T, class Encode>
void store_as(std::byte* base, int64_t step, int64_t count, Encode&& encode) {
  T* to = reinterpret_cast<T*>(base);
  for (int64_t i = 0; i < count; ++i) to[i * step] = encode(static_cast<size_t>(i));
}
template <class T>
void store_integer(const Lanes& lanes, std::byte* base, int64_t step, int64_t count) {
  store_as<T>(base, step, count, [&](size_t i) { return static_cast<T>(lanes.integer[i]); });
}

/// The machine's conversion to an integer of `bits` bits.
int64_t saturate(double value, int bits, bool is_signed) {
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double high = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1.0;
  if (std::isnan(value)) return static_cast<int64_t>(std::signbit(value) ? low : high);
  const double rounded = std::nearbyint(value);
  return static_cast<int64_t>(rounded < low ? low : rounded > high ? high : rounded);
}

void store_machine_integer(const Lanes& lanes, Dtype dtype, std::byte* base, int64_t step, int64_t count) {
  const int64_t size = ncc::size_bytes(dtype);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = saturate(lanes.as_real(i), info(dtype).bits, is_signed_int(dtype));
    std::memcpy(base + i * step * size, &value, static_cast<size_t>(size));
  }
}

}  // namespace

void Lanes::reset(Dtype type, int64_t count) {
  dtype = type;
  if (is_real())
    real.resize(static_cast<size_t>(count));
  else
    integer.resize(static_cast<size_t>(count));
}

double Lanes::as_real(int64_t i) const {
  const size_t at = static_cast<size_t>(i);
  return is_real() ? real[at] : static_cast<double>(integer[at]);
}

void load(Lanes& lanes, const std::byte* base, int64_t step, int64_t count) {
  switch (lanes.dtype) {
    case Dtype::F32:
      return load_as<float>(lanes.real, base, step, count, [](float v) { return double{v}; });
    case Dtype::BF16:
      return load_as<uint16_t>(lanes.real, base, step, count,
                               [](uint16_t v) { return double{f32_from_bf16(v)}; });
    case Dtype::F16:
      return load_as<uint16_t>(lanes.real, base, step, count,
                               [](uint16_t v) { return double{f32_from_f16(v)}; });
    case Dtype::Pred:
      return load_as<uint8_t>(lanes.integer, base, step, count, [](uint8_t v) { return int64_t{v != 0}; });
    case Dtype::S8:
      return load_integer<int8_t>(lanes, base, step, count);
    case Dtype::U8:
      return load_integer<uint8_t>(lanes, base, step, count);
    case Dtype::S16:
      return load_integer<int16_t>(lanes, base, step, count);
    case Dtype::U16:
      return load_integer<uint16_t>(lanes, base, step, count);
    case Dtype::S32:
      return load_integer<int32_t>(lanes, base, step, count);
    case Dtype::U32:
      return load_integer<uint32_t>(lanes, base, step, count);
    case Dtype::S64:
    case Dtype::U64:
      return load_integer<int64_t>(lanes, base, step, count);
    default:
      break;
  }
  const int64_t size = ncc::size_bytes(lanes.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* element = base + i * step * size;
    if (lanes.is_real())
      lanes.real[static_cast<size_t>(i)] = load_as_double(lanes.dtype, element);
    else
      lanes.integer[static_cast<size_t>(i)] = load_as_int64(lanes.dtype, element);
  }
}

void store(const Lanes& lanes, Dtype dtype, Rounding rounding, std::byte* base, int64_t step, int64_t count) {
  const int64_t size = ncc::size_bytes(dtype);
  // Integer lanes hold raw bits or a value that the function already saturated.
  if (rounding == Rounding::Machine && is_integer(dtype) && lanes.is_real())
    return store_machine_integer(lanes, dtype, base, step, count);
  if (dtype == Dtype::Pred)
    return store_as<uint8_t>(base, step, count, [&](size_t i) {
      return lanes.is_real() ? lanes.real[i] != 0 : lanes.integer[i] != 0;
    });
  if (lanes.is_real()) {
    if (dtype == Dtype::F32)
      return store_as<float>(base, step, count, [&](size_t i) { return static_cast<float>(lanes.real[i]); });
    if (dtype == Dtype::BF16)
      return store_as<uint16_t>(base, step, count, [&](size_t i) { return bf16_from_f64(lanes.real[i]); });
    for (int64_t i = 0; i < count; ++i)
      store_from_double(dtype, base + i * step * size, lanes.real[static_cast<size_t>(i)]);
    return;
  }
  switch (is_integer(dtype) ? size : 0) {
    case 1:
      return store_integer<uint8_t>(lanes, base, step, count);
    case 2:
      return store_integer<uint16_t>(lanes, base, step, count);
    case 4:
      return store_integer<uint32_t>(lanes, base, step, count);
    case 8:
      return store_integer<uint64_t>(lanes, base, step, count);
    default:
      break;
  }
  for (int64_t i = 0; i < count; ++i)
    store_from_int64(dtype, base + i * step * size, lanes.integer[static_cast<size_t>(i)]);
}

}  // namespace ncc::penguin
