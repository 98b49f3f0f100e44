// The field table of fields.def as values: which byte of a bundle means what, per opcode and generation.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

enum class Layout : uint8_t {
#define LAYOUT(id) id,
#include "ir-formats/isa/fields.def"
};
enum class Kind : uint8_t {
#define KIND(id, bytes) id,
#include "ir-formats/isa/fields.def"
};
enum class Role : uint8_t {
#define ROLE(id) id,
#include "ir-formats/isa/fields.def"
  Fixed,
};

struct Field {
  Layout layout;
  Role role;
  Kind kind;
  uint8_t offset;
  uint8_t first_gen, last_gen;
  uint8_t fixed_value;    // Role::Fixed
  std::string_view name;  // for messages
};

constexpr int kKindBytes[] = {
#define KIND(id, bytes) bytes,
#include "ir-formats/isa/fields.def"
};
constexpr int size_bytes(Kind kind) { return kKindBytes[static_cast<size_t>(kind)]; }
std::string_view name(Role role);

/// The fields of one opcode on one generation (2..4), in table order.
std::span<const Field> fields_of(Opcode opcode, int generation);
/// Bytes that no field owns, as 64 bytes of 0x00 (owned) or 0xFF (must be zero), packed in eight words.
const std::array<uint64_t, 8>& reserved_mask(Opcode opcode, int generation);

}  // namespace ncc::isa
