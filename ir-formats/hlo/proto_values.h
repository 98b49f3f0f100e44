// Shapes and literals between the wire messages and memory. Internal to the proto reader and writer.
#pragma once
#include <optional>
#include <string_view>

#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/literal.h"
#include "ir-formats/hlo/proto_payloads.h"
#include "ir-formats/hlo/shape.h"

namespace ncc::hlo {

/// EVRF002 for element types we do not have, EVRF003 for inconsistent shapes; `what` names the value.
Result<Shape> shape_from_wire(const wire::ShapeProto& proto, std::string_view what);
void shape_to_wire(const Shape& shape, wire::ShapeProto* proto);

/// Takes the value storage out of the message, or refers to a payload, instead of copying it when the layout
/// is the default one.
Result<Literal> literal_from_wire(wire::LiteralProto* proto, std::string_view what, const SlimModule& slim);
/// `shape` carries the layout to write (elements are brought into that order).
void literal_to_wire(const Literal& literal, const Shape& shape, wire::LiteralProto* proto);

/// Copies the elements of a dense array so that the dimension `minor_to_major[0]` of the one side varies
/// fastest: to_row_major: from that order into row-major; else the reverse.
void permute_elements(const Shape& shape, const std::byte* from, std::byte* to, bool to_row_major);

}  // namespace ncc::hlo
