// Reading and writing Penguin modules. Binary (penguin.proto) and text hold the same; a file's extension
// decides which is written (".txt", ".penguin": text, else binary), its content which is read. Every reader
// runs the structural checks that make the result safe to walk; `verify` (verify.h) checks the level's rules.
#pragma once
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// EFIL001, EFIL003 (not a Penguin file), EPEN001 (malformed).
Result<Module> read_module(const std::string& path);
/// EFIL002.
Status write_module(const Module& module, const std::string& path);

std::string to_binary(const Module& module);
/// `what` names the input in errors.
Result<Module> from_binary(std::string_view bytes, const std::string& what);

/// One statement a line; axes, tensors and their attributes first. Reads back to the same module.
std::string to_text(const Module& module);
Result<Module> from_text(std::string_view text, const std::string& what);
/// One instruction as in the module's text.
std::string to_text(const Function& function, const Inst& inst);

}  // namespace ncc::penguin
