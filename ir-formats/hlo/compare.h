// Structural comparison of modules: same computations called in the same places, same instructions in the
// same operand graph, same attributes and literals. Names of instructions and computations, ids, storage
// order and locations are ignored, names of the entry's parameters are not.
#pragma once
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// True when equal; otherwise `difference` (may be null) says where and what, in one line.
bool same_module(const Module& a, const Module& b, std::string* difference);

}  // namespace ncc::hlo
