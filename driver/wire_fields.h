// The fields of a protobuf message as they stand in the wire format, without a schema.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ncc::driver {

/// One field as it stands in the bytes.
struct WireField {
  uint64_t number = 0;
  uint64_t wire_type = 0;
  std::string_view all;      // tag, length and payload
  std::string_view payload;  // length-delimited fields only
};

enum class WireEnd : uint8_t { None, CutOff, NotAMessage };

/// Takes the next field off the front. nullopt: `why` says whether the bytes end too early or are no message.
std::optional<WireField> take_field(std::string_view& bytes, WireEnd& why);

}  // namespace ncc::driver
