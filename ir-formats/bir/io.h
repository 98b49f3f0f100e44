// BIR files: JSON with the keys of spec/bir.md §5 (".json") and a protobuf with the same content (any other
// extension).
#pragma once
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/bir/module.h"

namespace ncc::bir {

/// The extension decides. EFIL001 when unreadable, EBIR001 naming the place when malformed. The result
/// satisfies verify_structure.
Result<Module> read_module(const std::string& path);
Status write_module(const Module& module, const std::string& path);

Result<Module> parse_json(std::string_view text);
std::string to_json(const Module& module);
Result<Module> parse_binary(std::string_view bytes);
std::string to_binary(const Module& module);

/// Text for people: one instruction a line, loops indented. Not read back.
std::string print(const Module& module);
std::string print(const Module& module, const Function& function, const Instruction& inst);

}  // namespace ncc::bir
