// Small rewrites that readers share: old or foreign spellings become the module's conventions. Internal to
// the readers.
#pragma once
#include <optional>
#include <string>

#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// dynamic-slice and dynamic-update-slice with one 1-D index operand (old files): the operand becomes scalar
/// slices of it.
Status split_index_operand(Instruction* inst);

/// A custom-call whose target is a StableHLO/CHLO op name of the opcode table ("chlo.erfc", also with the
/// prefix "mhlo.") becomes that op: how ops without an HLO opcode travel in HLO files.
void restore_opcode(Instruction* inst);

/// The comparison opcodes of old files ("less-than"): true, and the direction, when `opcode` is one.
bool legacy_compare(std::string_view opcode, CompareDirection* direction);

/// What has no place of its own in HLO files, as frontend attributes under kRawPrefix: raw attributes, those
/// of ops without an HLO opcode, and quantized element types. `restore_opcode` takes them back.
std::vector<std::pair<std::string, std::string>> carried_attributes(const Instruction& inst);

/// Key prefix under which raw attributes travel as frontend attributes of HLO files.
inline constexpr std::string_view kRawPrefix = "raw.";
/// Key prefix, before the result's number, under which result names travel as frontend attributes of the
/// module.
inline constexpr std::string_view kResultNamePrefix = "result_name.";

/// Two hex digits a byte; nothing when it is anything else.
std::optional<std::string> bytes_of_hex(std::string_view hex);

/// Takes the result names out of the module's frontend attributes, where HLO files carry them.
void restore_result_names(Module* module);

}  // namespace ncc::hlo
