// Framing of the binary form: a magic that no other file of the pipeline starts with, then the protobuf
// message.
#pragma once
#include <cstdint>
#include <string_view>

namespace ncc::penguin {

inline constexpr std::string_view kMagic = "NCCPENG\n";
inline constexpr uint32_t kWireVersion = 1;
/// First word of the text form.
inline constexpr std::string_view kTextMagic = "penguin";

}  // namespace ncc::penguin
