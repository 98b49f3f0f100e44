// Literals in HLO text. Internal to the printer.
#pragma once
#include <string>

#include "ir-formats/hlo/literal.h"

namespace ncc::hlo {

/// "{ { 1, 2 }, { 3, 4 } }", "(1, {…})"; values round-trip bit for bit, NaN payloads included.
std::string literal_text(const Literal& literal);

}  // namespace ncc::hlo
