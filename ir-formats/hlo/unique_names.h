// Instruction names that are unique in the whole module, as XLA wants them in protos (in text they are unique
// in their computation only). Internal to readers and writers.
#pragma once
#include <string>
#include <unordered_map>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// New names for the instructions whose name stands in an earlier computation too (in post order); the others
/// keep theirs.
std::unordered_map<const Instruction*, std::string> unique_names(const Module& module);

}  // namespace ncc::hlo
