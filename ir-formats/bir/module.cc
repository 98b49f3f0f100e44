#include "ir-formats/bir/module.h"

namespace ncc::bir {
namespace {

constexpr OpcodeInfo kOpcodes[] = {
#define OPCODE(id, ordinal, engines, min_level, ins_min, ins_max, outs_min, outs_max) \
  {Opcode::id, #id, ordinal, engines, min_level, ins_min, ins_max, outs_min, outs_max},
#include "ir-formats/bir/opcodes.def"
};

const Attributes kDefaults;

}  // namespace

const Attributes& Instruction::attrs() const { return attributes ? *attributes : kDefaults; }

Attributes& Instruction::mutable_attrs() {
  if (!attributes) attributes = std::make_unique<Attributes>();
  return *attributes;
}

const OpcodeInfo& info(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }

std::optional<Opcode> opcode_from_name(std::string_view name) {
  for (const OpcodeInfo& row : kOpcodes)
    if (row.name == name) return row.opcode;
  return std::nullopt;
}

bool is_dma(Opcode opcode) {
  return opcode == Opcode::Load || opcode == Opcode::Save || opcode == Opcode::DMACopy;
}

}  // namespace ncc::bir
