#include "driver/cache/canonical_model.h"

#include <array>
#include <cstdint>
#include <optional>

#include "driver/wire_fields.h"

namespace ncc::driver::cache {
namespace {

// Field numbers of hlo.proto.
constexpr uint64_t kModuleComputations = 3;
constexpr uint64_t kComputationInstructions = 2;
constexpr std::array<uint64_t, 3> kModuleDropped = {5, 14, 17};  // id, profile info, stack frames
constexpr std::array<uint64_t, 1> kInstructionDropped = {7};     // metadata

template <class Dropped>
bool is_one_of(uint64_t number, const Dropped& dropped) {
  for (const uint64_t one : dropped)
    if (one == number) return true;
  return false;
}

enum class Message { Module, Computation, Instruction };

/// Appends the message without dropped fields; false when the bytes are no protobuf message.
bool append_canonical(std::string_view bytes, Message kind, std::string& out) {
  WireEnd why = WireEnd::None;
  while (!bytes.empty()) {
    const std::optional<WireField> field = take_field(bytes, why);
    if (!field) return false;
    if (kind == Message::Module && is_one_of(field->number, kModuleDropped)) continue;
    if (kind == Message::Instruction && is_one_of(field->number, kInstructionDropped)) continue;
    const bool nested = field->wire_type == 2 &&
                        ((kind == Message::Module && field->number == kModuleComputations) ||
                         (kind == Message::Computation && field->number == kComputationInstructions));
    if (!nested) {
      out += field->all;
      continue;
    }
    std::string inner;
    if (!append_canonical(field->payload,
                          kind == Message::Module ? Message::Computation : Message::Instruction, inner))
      return false;
    // Not protobuf's own encoding of the length: the result is only ever hashed.
    out += static_cast<char>(field->number);
    out += std::to_string(inner.size());
    out += ':';
    out += inner;
  }
  return true;
}

bool is_text(std::string_view bytes) {
  return bytes.substr(0, 4096).find('\0') == std::string_view::npos &&
         (bytes.find("HloModule") != std::string_view::npos ||
          bytes.find("module") != std::string_view::npos);
}

/// The end of a bracketed group that starts at `open`; strings inside are skipped.
size_t end_of_group(std::string_view text, size_t open) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '(' || c == '{') ++depth;
    if ((c == ')' || c == '}') && --depth == 0) return at + 1;
  }
  return text.size();
}

/// `("name")`: a location that is a name alone gives a parameter its name, which is part of the interface.
bool is_plain_name(std::string_view group) {
  if (!group.starts_with("(\"") || !group.ends_with("\")")) return false;
  return group.substr(2, group.size() - 4).find('"') == std::string_view::npos;
}

/// Without `loc(...)`, lines that define `#loc`, and `, metadata={...}`.
std::string canonical_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool is_definition = !quoted && (at == 0 || text[at - 1] == '\n') && rest.starts_with("#loc");
    if (is_definition || (!quoted && (rest.starts_with(" loc(") || rest.starts_with(", metadata={")))) {
      const size_t open = rest.find_first_of("({");
      const size_t begin = open == std::string_view::npos ? text.size() : at + open;
      at = end_of_group(text, begin);
      if (const std::string_view group = text.substr(begin, at - begin); is_plain_name(group)) out += group;
      if (is_definition && at < text.size()) ++at;  // its line end
    } else {
      if (text[at] == '"' && (at == 0 || text[at - 1] != '\\')) quoted = !quoted;
      out += text[at++];
    }
  }
  return out;
}

}  // namespace

std::string canonical_model(std::string_view bytes) {
  if (is_text(bytes)) return canonical_text(bytes);
  std::string out;
  out.reserve(bytes.size());
  return append_canonical(bytes, Message::Module, out) ? out : std::string(bytes);
}

}  // namespace ncc::driver::cache
