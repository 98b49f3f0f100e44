#include "tools/neuron-sim/host_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ncc::sim {
namespace {

std::string text(Dtype dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", info(dtype).hlo, fmt::join(shape, ","));
}

std::string index_text(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

// 64-bit -> 32-bit elements; the flat index of the first value that does not survive, or -1. Doubles round; a
// finite one must stay finite.
int64_t demote(Dtype from, std::span<const std::byte> in, std::byte* out) {
  const auto count = static_cast<int64_t>(in.size() / 8);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* at = in.data() + 8 * i;
    bool survives = true;
    if (from == Dtype::S64) {
      const auto value = load<int64_t>(at);
      store(out + 4 * i, static_cast<int32_t>(value));
      survives = value >= INT32_MIN && value <= INT32_MAX;
    } else if (from == Dtype::U64) {
      const auto value = load<uint64_t>(at);
      store(out + 4 * i, static_cast<uint32_t>(value));
      survives = value <= UINT32_MAX;
    } else {
      const auto value = load<double>(at);
      const auto narrow = static_cast<float>(value);
      store(out + 4 * i, narrow);
      survives = std::isfinite(narrow) || !std::isfinite(value);
    }
    if (!survives) return i;
  }
  return -1;
}

void widen(Dtype to, const std::byte* in, int64_t count, std::byte* out) {
  for (int64_t i = 0; i < count; ++i) {
    if (to == Dtype::S64)
      store(out + 8 * i, int64_t{load<int32_t>(in + 4 * i)});
    else if (to == Dtype::U64)
      store(out + 8 * i, uint64_t{load<uint32_t>(in + 4 * i)});
    else
      store(out + 8 * i, double{load<float>(in + 4 * i)});
  }
}

void to_bools(std::span<const std::byte> in, std::byte* out) {
  std::transform(in.begin(), in.end(), out, [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
}

}  // namespace

Result<DeviceBytes> to_device(const neff::IoTensor& tensor, size_t number, const Array& array,
                              int64_t variable_bytes) {
  const bool same_bits = info(array.dtype).numpy == info(tensor.dtype).numpy;
  if (array.shape != tensor.shape || !same_bits)
    return error(Code::ERUN001, number,
                 fmt::format("'{}' is {}{}, found {}", tensor.name, text(tensor.dtype, tensor.shape),
                             same_bits || size_bytes(array.dtype) != size_bytes(tensor.dtype)
                                 ? ""
                                 : fmt::format(" (stored as {})", info(tensor.dtype).numpy),
                             text(array.dtype, array.shape)));
  const bool in_place =
      static_cast<int64_t>(array.bytes.size()) == variable_bytes &&
      (tensor.conversion == neff::Conversion::None ||
       (tensor.conversion == neff::Conversion::Pred &&
        std::all_of(array.bytes.begin(), array.bytes.end(), [](std::byte b) { return b <= std::byte{1}; })));
  if (in_place) return DeviceBytes{array.bytes, array.owner};
  auto storage = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(variable_bytes));
  std::byte* out = storage->data();
  int64_t lost = -1;
  switch (tensor.conversion) {
    case neff::Conversion::None:
      std::copy(array.bytes.begin(), array.bytes.end(), out);
      break;
    case neff::Conversion::Pred:
      to_bools(array.bytes, out);
      break;
    case neff::Conversion::Demote:
      lost = demote(tensor.dtype, array.bytes, out);
      break;
    case neff::Conversion::ComplexPlanes: {
      const int64_t count = array.num_elements();
      const int64_t part = size_bytes(tensor.dtype) / 2;
      for (int64_t i = 0; i < 2 * count; ++i) {
        const std::byte* from = array.bytes.data() + part * i;
        std::byte* to = out + 4 * (i / 2 + (i % 2) * count);
        if (part == 4)
          std::memcpy(to, from, 4);
        else if (demote(Dtype::F64, {from, 8}, to) >= 0 && lost < 0)
          lost = i / 2;
      }
      break;
    }
  }
  if (lost >= 0)
    return error(Code::ERUN001, number,
                 fmt::format("'{}' element {} does not fit {}, which the program computes in", tensor.name,
                             index_text(lost, tensor.shape), info(tensor.device_dtype).hlo));
  return DeviceBytes{*storage, storage};
}

Array from_device(const neff::IoTensor& tensor, std::span<const std::byte> device) {
  Array array = Array::zeros(tensor.dtype, tensor.shape);
  std::byte* out = array.mutable_data();
  const int64_t count = array.num_elements();
  switch (tensor.conversion) {
    case neff::Conversion::None:
      std::copy_n(device.begin(), array.bytes.size(), out);
      break;
    case neff::Conversion::Pred:
      to_bools(device.first(static_cast<size_t>(count)), out);
      break;
    case neff::Conversion::Demote:
      widen(tensor.dtype, device.data(), count, out);
      break;
    case neff::Conversion::ComplexPlanes: {
      const int64_t part = size_bytes(tensor.dtype) / 2;
      for (int64_t i = 0; i < 2 * count; ++i) {
        const std::byte* from = device.data() + 4 * (i / 2 + (i % 2) * count);
        if (part == 4)
          std::memcpy(out + 4 * i, from, 4);
        else
          widen(Dtype::F64, from, 1, out + 8 * i);
      }
      break;
    }
  }
  return array;
}

}  // namespace ncc::sim
