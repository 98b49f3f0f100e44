// Attributes of an instruction in HLO text. Internal to the printer.
#pragma once
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// ", dimensions={1}, to_apply=%add, …": everything but metadata, each attribute with its comma before it.
std::string attributes_text(const Instruction& inst);
/// Quoted, with C escapes.
std::string quoted(std::string_view text);
/// True when the text is one balanced {…}: it may stand unquoted.
bool is_json_group(std::string_view text);
/// HLO text takes names as keys only: others are written as this and the hex of their bytes.
inline constexpr std::string_view kHexKeyPrefix = "hex.";
std::string frontend_key(std::string_view key);
/// "{a="x",opts={"n":3}}": values that are JSON dictionaries stand as they are.
std::string frontend_text(const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace ncc::hlo
