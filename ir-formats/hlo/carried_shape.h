// What HLO files cannot say about shapes: quantized element types travel as their storage type, with the
// parameters in a carried attribute of the instruction. Internal to readers and writers.
#pragma once
#include <string>
#include <string_view>

#include "ir-formats/hlo/shape.h"

namespace ncc::hlo {

/// The parameters of every leaf, for restore_quantization; "" when no leaf is quantized.
std::string quantization_list(const Shape& shape);
/// Gives the leaves their parameters back. False, and nothing changed, when `list` does not fit the shape.
bool restore_quantization(std::string_view list, Shape* shape);
/// The same shape with plain storage types.
Shape storage_shape(const Shape& shape);
/// Gives `to` the parameters of `from` where the two have the same storage shape.
void copy_quantization(const Shape& from, Shape* to);

}  // namespace ncc::hlo
