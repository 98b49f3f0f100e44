// The files that tell later stages and the runtime how the model's parameters and results map to device
// variables (DESIGN H1).
#pragma once
#include <string>

#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// {"inputs": [{name, dtype, shape, variable, device_dtype, device_shape, conversion}], "outputs": [...]}
std::string io_json(const penguin::Module& module);
/// {"variable": {"name": declared name, "kind": "input" | "output", "index": n}}
std::string tensor_map_json(const penguin::Module& module);

}  // namespace ncc::hlo_opt
