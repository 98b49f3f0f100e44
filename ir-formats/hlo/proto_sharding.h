// Shardings: the wire message and the HLO text form that the module keeps. The text form is what people read
// and what same_module compares; what it says about values is in device_part.h.
#pragma once
#include <string>
#include <string_view>

#include "ir-formats/hlo/hlo.pb.h"

namespace ncc::hlo {

/// "{devices=[2,1]<=[2]}", "{{replicated}, {maximal device=0}}"; always with braces.
std::string sharding_to_text(const wire::OpSharding& sharding);
/// The inverse. False when the text has a form we do not know (the sharding is then left out of the file).
bool sharding_from_text(std::string_view text, wire::OpSharding* sharding);

}  // namespace ncc::hlo
