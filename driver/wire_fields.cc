#include "driver/wire_fields.h"

namespace ncc::driver {
namespace {

constexpr unsigned kMaxVarintBits = 64;

std::optional<uint64_t> take_varint(std::string_view& bytes, WireEnd& why) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < kMaxVarintBits; shift += 7) {
    if (bytes.empty()) {
      why = WireEnd::CutOff;
      return std::nullopt;
    }
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  why = WireEnd::NotAMessage;
  return std::nullopt;
}

}  // namespace

std::optional<WireField> take_field(std::string_view& bytes, WireEnd& why) {
  const std::string_view start = bytes;
  const std::optional<uint64_t> tag = take_varint(bytes, why);
  if (!tag) return std::nullopt;
  WireField field{*tag >> 3, *tag & 7, {}, {}};
  std::optional<uint64_t> size;
  switch (field.wire_type) {
    case 0:
      if (!take_varint(bytes, why)) return std::nullopt;
      size = 0;
      break;
    case 1:
      size = 8;
      break;
    case 2:
      size = take_varint(bytes, why);
      if (!size) return std::nullopt;
      break;
    case 5:
      size = 4;
      break;
    default:
      break;
  }
  if (field.number == 0 || !size) {
    why = WireEnd::NotAMessage;
    return std::nullopt;
  }
  if (*size > bytes.size()) {
    why = WireEnd::CutOff;
    return std::nullopt;
  }
  if (field.wire_type == 2) field.payload = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  field.all = start.substr(0, start.size() - bytes.size());
  return field;
}

}  // namespace ncc::driver
