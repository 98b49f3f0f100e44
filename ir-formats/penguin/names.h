// Spellings of Penguin's enumerations, shared by the binary and the text form.
#pragma once
#include <optional>
#include <string_view>

#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

std::string_view name(Role role);
std::string_view name(Space space);
std::string_view name(TensorOp op);
std::string_view name(AxisRole role);
std::string_view name(Comparison comparison);
inline std::string_view name(ScalarFunction function) { return info(function).name; }

/// nullopt when unknown. Instantiated for the enumerations above.
template <class E>
std::optional<E> from_name(std::string_view name);

}  // namespace ncc::penguin
