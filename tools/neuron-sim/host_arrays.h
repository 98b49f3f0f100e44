// Host arrays to device bytes and back, as io.json says (DESIGN H1; conversions.def).
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/diag/status.h"
#include "common/npy/npy.h"
#include "ir-formats/neff/io.h"

namespace ncc::sim {

/// Bytes of a DRAM variable; `owner` keeps them alive.
struct DeviceBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// The device form of parameter `number`. ERUN001: wrong shape or element type, or a value that does not
/// survive demotion. `variable_bytes` >= the device form; the rest is zero.
Result<DeviceBytes> to_device(const neff::IoTensor& tensor, size_t number, const Array& array,
                              int64_t variable_bytes);

/// The declared form of a result.
Array from_device(const neff::IoTensor& tensor, std::span<const std::byte> device);

}  // namespace ncc::sim
