// Field rows, and the proof that no byte of any bundle has two owners. Lookups are tables built once.
#include "ir-formats/isa/fields.h"

#include <vector>

#include "ir-formats/isa/wire.h"

namespace ncc::isa {
namespace {

constexpr Field kFields[] = {
#define FIELD(layout, role, offset, kind, g0, g1) \
  {Layout::layout, Role::role, Kind::kind, offset, g0, g1, 0, #role},
#include "ir-formats/isa/fields.def"
#define FIXED(layout, what, offset, value, g0, g1) \
  {Layout::layout, Role::Fixed, Kind::U8, offset, g0, g1, value, #what},
#include "ir-formats/isa/fields.def"
};

constexpr int kHeaderBytes = 4;

constexpr bool one_owner_per_byte(int generation) {
  for (const Field& field : kFields) {
    if (generation < field.first_gen || generation > field.last_gen) continue;
    const int end = field.offset + size_bytes(field.kind);
    if (field.offset < kHeaderBytes || end > kBundleBytes) return false;
    for (const Field& other : kFields) {
      if (&other == &field || other.layout != field.layout) continue;
      if (generation < other.first_gen || generation > other.last_gen) continue;
      if (other.offset < end && field.offset < other.offset + size_bytes(other.kind)) return false;
    }
  }
  return true;
}
static_assert(one_owner_per_byte(2) && one_owner_per_byte(3) && one_owner_per_byte(4));

constexpr int kNumOpcodes = static_cast<int>(Opcode::Opaque) + 1;
constexpr int kNumGenerations = kLastGeneration - kFirstGeneration + 1;

struct OpcodeFields {
  std::vector<Field> fields;
  std::array<uint64_t, 8> reserved{};
};

OpcodeFields build(Layout layout, int generation) {
  OpcodeFields result;
  std::array<uint8_t, kBundleBytes> free_bytes;
  free_bytes.fill(0xFF);
  for (int i = 0; i < kHeaderBytes; ++i) free_bytes[i] = 0;
  for (const Field& field : kFields) {
    if (field.layout != layout || generation < field.first_gen || generation > field.last_gen) continue;
    result.fields.push_back(field);
    for (int i = 0; i < size_bytes(field.kind); ++i) free_bytes[field.offset + i] = 0;
  }
  result.reserved = std::bit_cast<std::array<uint64_t, 8>>(free_bytes);
  return result;
}

const OpcodeFields& lookup(Opcode opcode, int generation) {
  static const std::vector<OpcodeFields> kTable = [] {
    std::vector<OpcodeFields> table(kNumOpcodes * kNumGenerations);
    for (int g = 0; g < kNumGenerations; ++g) {
#define USES(opcode, layout) \
  table[g * kNumOpcodes + static_cast<int>(Opcode::opcode)] = build(Layout::layout, kFirstGeneration + g);
#include "ir-formats/isa/fields.def"
    }
    return table;
  }();
  return kTable[(generation - kFirstGeneration) * kNumOpcodes + static_cast<int>(opcode)];
}

constexpr std::string_view kRoleNames[] = {
#define ROLE(id) #id,
#include "ir-formats/isa/fields.def"
    "Fixed",
};

// Wire rank of a descriptor kind.
int rank(Kind kind) {
  switch (kind) {
    case Kind::T1D:
      return 1;
    case Kind::T2D:
      return 2;
    case Kind::T3D:
    case Kind::Steps3:
      return 3;
    case Kind::T4D:
    case Kind::Pattern4D:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

std::string_view name(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::span<const Field> fields_of(Opcode opcode, int generation) { return lookup(opcode, generation).fields; }

const std::array<uint64_t, 8>& reserved_mask(Opcode opcode, int generation) {
  return lookup(opcode, generation).reserved;
}

int max_free_dims(Opcode opcode, OperandRole operand) {
  const Role wanted = operand == OperandRole::In0   ? Role::In0
                      : operand == OperandRole::In1 ? Role::In1
                      : operand == OperandRole::Out ? Role::Out
                                                    : Role::Pattern;
  for (const Field& field : fields_of(opcode, kFirstGeneration))
    if (field.role == wanted) return rank(field.kind);
  return 0;
}

}  // namespace ncc::isa
