#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {
namespace {

constexpr OpcodeInfo kOpcodes[] = {
#define OPCODE(id, byte, mnemonic, engines, first_gen, last_gen) \
  {Opcode::id, byte, mnemonic, engines, first_gen, last_gen},
#include "ir-formats/isa/opcodes.def"
    {Opcode::Opaque, 0xFF, "opaque", "", 2, 4},
};

char letter(Engine engine) {
  switch (engine) {
    case Engine::PE:
      return 'E';
    case Engine::Activation:
      return 'A';
    case Engine::Pool:
      return 'P';
    case Engine::DVE:
      return 'V';
    case Engine::SP:
      return 'S';
    default:
      return '?';
  }
}

}  // namespace

const OpcodeInfo& info(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }

Opcode opcode_from_byte(uint8_t byte) {
  for (const OpcodeInfo& row : kOpcodes)
    if (row.byte == byte && row.opcode != Opcode::Opaque) return row.opcode;
  return Opcode::Opaque;
}

bool is_legal(Opcode opcode, Engine engine, int generation) {
  const OpcodeInfo& row = info(opcode);
  if (generation < row.first_gen || generation > row.last_gen) return false;
  if (row.engines == "*") return letter(engine) != '?';
  return row.engines.find(letter(engine)) != std::string_view::npos;
}

}  // namespace ncc::isa
