// Literals in HLO text. Internal to the printer.
#pragma once
#include <string>

#include "ir-formats/hlo/literal.h"

namespace ncc::hlo {

/// "{ { 1, 2 }, { 3, 4 } }", "(1, {…})"; values round-trip bit for bit, NaN payloads included.
std::string literal_text(const Literal& literal);

/// Mantissa bits that a NaN of this type may choose ("nan(0x3)"); 0 for formats with fixed NaN patterns.
int nan_payload_bits(Dtype dtype);
/// False for formats whose one NaN has no sign to choose.
bool has_signed_nan(Dtype dtype);

}  // namespace ncc::hlo
