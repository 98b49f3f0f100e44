#include "ir-formats/neff/header.h"

#include <algorithm>
#include <cstring>

namespace ncc::neff {
namespace {

struct Row {
  int offset, bytes;
};
constexpr Row kPackageVersion{0, 8}, kHeaderSize{8, 8}, kDataSize{16, 8}, kMajor{24, 8}, kMinor{32, 8},
    kBuild{40, 128}, kNumTpb{168, 4}, kHash{172, 32}, kUuid{204, 16}, kName{220, 256}, kRequested{476, 4},
    kTpbPerNode{480, 64}, kFeatures{544, 8}, kLnc{552, 4}, kPad{556, 468};
constexpr Row kRows[] = {kPackageVersion, kHeaderSize, kDataSize, kMajor, kMinor,
                         kBuild,          kNumTpb,     kHash,     kUuid,  kName,
                         kRequested,      kTpbPerNode, kFeatures, kLnc,   kPad};
constexpr bool rows_are_adjacent() {
  int end = 0;
  for (const Row& row : kRows) {
    if (row.offset != end) return false;
    end += row.bytes;
  }
  return end == kHeaderBytes;
}
static_assert(rows_are_adjacent());

constexpr uint64_t kMaxMajor = 2;
constexpr uint64_t kUnsupportedFeatures = 0x7FFFFFFFF8000000;  // bits 27..62 (§2.2)

template <class T>
void put(std::byte* header, Row row, T value) {
  std::memcpy(header + row.offset, &value, static_cast<size_t>(row.bytes));
}
template <class T>
T get(const std::byte* header, Row row) {
  T value{};
  std::memcpy(&value, header + row.offset, static_cast<size_t>(row.bytes));
  return value;
}
void put_text(std::byte* header, Row row, const std::string& text) {
  std::memcpy(header + row.offset, text.data(), std::min(text.size(), static_cast<size_t>(row.bytes - 1)));
}
std::string get_text(const std::byte* header, Row row) {
  const char* text = reinterpret_cast<const char*>(header) + row.offset;
  return std::string(text, strnlen(text, static_cast<size_t>(row.bytes)));
}
Status bad(const std::string& problem) { return error(Code::ENEF001, problem); }

}  // namespace

std::array<std::byte, kHeaderBytes> write_header(const Header& h) {
  std::array<std::byte, kHeaderBytes> bytes{};
  std::byte* at = bytes.data();
  put(at, kPackageVersion, static_cast<uint64_t>(h.package_version));
  put(at, kHeaderSize, static_cast<uint64_t>(kHeaderBytes));
  put(at, kDataSize, h.payload_bytes);
  put(at, kMajor, h.version_major);
  put(at, kMinor, h.version_minor);
  put_text(at, kBuild, h.build_version);
  put(at, kNumTpb, h.num_tpb);
  put(at, kHash, h.hash);
  put(at, kUuid, h.uuid);
  put_text(at, kName, h.name);
  put(at, kRequested, h.requested_tpb_count);
  put(at, kTpbPerNode, h.tpb_per_node);
  put(at, kFeatures, h.feature_bits);
  put(at, kLnc, h.lnc_size);
  return bytes;
}

Result<Header> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < static_cast<size_t>(kHeaderBytes))
    return bad(fmt::format("the file has {} bytes, less than the header of {}", bytes.size(), kHeaderBytes));
  const std::byte* at = bytes.data();
  Header h;
  const auto version = get<uint64_t>(at, kPackageVersion);
  const auto header_size = get<uint64_t>(at, kHeaderSize);
  if ((version != 1 && version != 2) || header_size != static_cast<uint64_t>(kHeaderBytes))
    return bad(fmt::format("not a NEFF: package version {}, header size {}", version, header_size));
  h.package_version = static_cast<PackageVersion>(version);
  h.payload_bytes = get<uint64_t>(at, kDataSize);
  h.version_major = get<uint64_t>(at, kMajor);
  h.version_minor = get<uint64_t>(at, kMinor);
  h.build_version = get_text(at, kBuild);
  h.num_tpb = get<uint32_t>(at, kNumTpb);
  h.hash = get<std::array<uint8_t, 32>>(at, kHash);
  h.uuid = get<std::array<uint8_t, 16>>(at, kUuid);
  h.name = get_text(at, kName);
  h.requested_tpb_count = get<uint32_t>(at, kRequested);
  h.tpb_per_node = get<std::array<uint8_t, 64>>(at, kTpbPerNode);
  h.feature_bits = get<uint64_t>(at, kFeatures);
  h.lnc_size = get<uint32_t>(at, kLnc);
  if (h.version_major > kMaxMajor)
    return bad(fmt::format("format version {} is newer than {}", h.version_major, kMaxMajor));
  if (h.feature_bits & kUnsupportedFeatures)
    return bad(fmt::format("unsupported feature bits 0x{:x}", h.feature_bits));
  if (h.payload_bytes > bytes.size() - static_cast<size_t>(kHeaderBytes))
    return bad(fmt::format("the file is truncated: {} of {} payload bytes", bytes.size() - kHeaderBytes,
                           h.payload_bytes));
  return h;
}

}  // namespace ncc::neff
