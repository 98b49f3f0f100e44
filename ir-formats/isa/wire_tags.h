// Wire codes that are not plain enumerations: dtype tags, on-chip addresses, PE quadrant groups, event bands.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "ir-formats/isa/wire.h"

namespace ncc::isa {

template <class T>
T load_le(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));  // the host is little-endian x86-64
  return value;
}
template <class T>
void store_le(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

std::optional<Dtype> dtype_from_tag(uint8_t tag, const WireContext& context);

// On-chip addresses (spec/isa.md §2.1, §2.2).
inline constexpr int kSbufPartitionShift = 18;
inline constexpr int kPsumPartitionShift = 15;
inline constexpr uint32_t kPsumBase = 0x02000000;
inline constexpr uint32_t kPsumWindow = 4u << 20;
inline constexpr int64_t kSbufPartitionBytes = int64_t{1} << kSbufPartitionShift;
inline constexpr int64_t kPsumPartitionBytes = 16 << 10;
inline constexpr int kNumPartitions = 128;
inline constexpr int kNumRegisters = 64;

/// ADDR4 of an on-chip access; the caller has checked partition and offset ranges.
inline uint32_t pack_address(Space space, int partition, int64_t offset) {
  const auto low = static_cast<uint32_t>(offset);
  if (space == Space::Sbuf) return (static_cast<uint32_t>(partition) << kSbufPartitionShift) + low;
  return kPsumBase + (static_cast<uint32_t>(partition) << kPsumPartitionShift) + low;
}
/// Sets space, start partition and offset; false for flag bits and holes of the address map.
bool unpack_address(uint32_t word, Access& access);

/// 4-bit mask of 32-wide quadrants of a PE tile (spec/isa.md §3.7).
inline uint8_t quadrant_group(int start, int extent) {
  if (extent <= 32) return static_cast<uint8_t>(1 << (start / 32));
  if (extent <= 64) return static_cast<uint8_t>(3 << (2 * (start / 64)));
  return 0xF;
}

inline constexpr uint8_t kPePlain = 0, kPeTranspose = 1, kPeFp32r = 2, kPeFp32 = 3;

/// Cross-lane fold codes (spec/isa.md §3.8).
std::optional<uint8_t> cross_lane_code(AluOp op);
std::optional<AluOp> cross_lane_op(uint8_t code);
/// Integer ALU codes of TensorTensorInt32, 0xC4..0xC8 (spec/isa.md §3.2).
std::optional<uint8_t> int32_code(AluOp op);
std::optional<AluOp> int32_op(uint8_t code);

}  // namespace ncc::isa
