// The 1024-byte NEFF header. Source: spec/neff.md §2; offsets are rows of header.cc.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "common/diag/status.h"

namespace ncc::neff {

inline constexpr int64_t kHeaderBytes = 1024;

enum class PackageVersion : uint64_t { Plain = 1, Gzip = 2 };  // tar with SHA-256; gzip of a tar with MD5

struct Header {
  PackageVersion package_version = PackageVersion::Gzip;
  uint64_t payload_bytes = 0;
  uint64_t version_major = 1, version_minor = 0;
  std::string build_version;  // at most 127 characters
  uint32_t num_tpb = 1;
  std::array<uint8_t, 32> hash{};
  std::array<uint8_t, 16> uuid{};
  std::string name = "file.neff";  // at most 255 characters
  uint32_t requested_tpb_count = 1;
  std::array<uint8_t, 64> tpb_per_node{1};
  uint64_t feature_bits = 0;
  uint32_t lnc_size = 1;
  bool operator==(const Header&) const = default;
};

/// Longer texts are cut.
std::array<std::byte, kHeaderBytes> write_header(const Header& header);
/// `bytes` may be a whole file. ENEF001 when it is too short, or no field combination this reader accepts.
Result<Header> read_header(std::span<const std::byte> bytes);

}  // namespace ncc::neff
