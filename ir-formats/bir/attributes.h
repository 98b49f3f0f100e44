// Visits every attribute with its protobuf id and JSON key; readers, writers and the printer are visitors, so
// that an attribute is one row of attributes.def and one member.
#pragma once
#include "ir-formats/bir/module.h"

namespace ncc::bir {

using Pattern = std::array<Dim, isa::kMaxFreeDims>;
using LaneMask = std::array<uint8_t, 32>;

/// Calls visit(id, key, member of a, member of defaults) for each row of attributes.def.
template <class A, class Visitor>
void visit_attributes(A& a, Visitor&& visit) {
  static const Attributes defaults;
  uint32_t id = 0;
#define ATTRIBUTE(field, key) visit(++id, key, a.field, defaults.field);
#include "ir-formats/bir/attributes.def"
}

}  // namespace ncc::bir
