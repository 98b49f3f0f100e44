// BIR attributes of a tile-level instruction as key = value words: one list of fields serves the binary and
// the text form.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/bir/module.h"

namespace ncc::penguin {

/// The fields that differ from their defaults, in declaration order. Values have no spaces: numbers,
/// enumeration names, "step:count" pairs and lists joined by '/'; floats as raw bits ("0x3f800000").
std::vector<std::pair<std::string, std::string>> to_fields(const bir::Attributes& attributes);

/// EPEN001 for an unknown key or a malformed value.
Status set_field(bir::Attributes& attributes, std::string_view key, std::string_view value);

}  // namespace ncc::penguin
