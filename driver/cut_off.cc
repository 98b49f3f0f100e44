#include "driver/cut_off.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "driver/wire_fields.h"

namespace ncc::driver {
namespace {

constexpr std::string_view kPenguinMagic = "NCCPENG\n";
constexpr size_t kTextSample = 64;
constexpr size_t kBundleBytes = 64;
constexpr uint64_t kNeffHeaderBytes =
    1024;  // spec/neff.md §2: version, size of the header, size of the payload

bool json_is_cut_off(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  size_t depth = 0;
  bool quoted = false;
  for (size_t at = first; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return false;
  }
  return true;
}

/// A text form under the name of the binary one.
bool is_text(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, kTextSample);
  return std::all_of(start.begin(), start.end(),
                     [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; });
}

bool message_is_cut_off(std::string_view bytes) {
  if (bytes.starts_with(kPenguinMagic)) bytes.remove_prefix(kPenguinMagic.size());
  if (is_text(bytes)) return false;
  WireEnd why = WireEnd::None;
  while (!bytes.empty())
    if (!take_field(bytes, why)) return why == WireEnd::CutOff;
  return false;
}

bool stream_is_cut_off(std::string_view bytes) { return !is_text(bytes) && bytes.size() % kBundleBytes != 0; }

bool neff_is_cut_off(std::string_view bytes) {
  std::array<uint64_t, 3> facts{};
  if (bytes.size() < sizeof(facts)) return false;
  std::memcpy(facts.data(), bytes.data(), sizeof(facts));
  const auto [version, header_bytes, payload_bytes] = facts;
  const bool is_neff = (version == 1 || version == 2) && header_bytes == kNeffHeaderBytes;
  return is_neff && (bytes.size() < kNeffHeaderBytes || bytes.size() - kNeffHeaderBytes < payload_bytes);
}

struct Kind {
  std::string_view suffix;
  bool (*is_cut_off)(std::string_view bytes);
};
constexpr std::array<Kind, 9> kKinds = {{{".json", json_is_cut_off},
                                         {".pb", message_is_cut_off},
                                         {".hlo", message_is_cut_off},
                                         {".neff", neff_is_cut_off},
                                         {"PE.bin", stream_is_cut_off},
                                         {"Activation.bin", stream_is_cut_off},
                                         {"Pool.bin", stream_is_cut_off},
                                         {"DVE.bin", stream_is_cut_off},
                                         {"SP.bin", stream_is_cut_off}}};

}  // namespace

bool is_cut_off(const std::string& name, std::string_view bytes) {
  for (const Kind& kind : kKinds)
    if (name.ends_with(kind.suffix)) return kind.is_cut_off(bytes);
  return false;
}

}  // namespace ncc::driver
