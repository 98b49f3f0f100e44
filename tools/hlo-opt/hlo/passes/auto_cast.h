// What auto-cast may do is said by the module itself: its frontend attribute fp32_cast holds the mode, one
// word for scope and type ("matmult-bf16", "all-fp16", ...: spec/driver.md §1.7). The pass takes the
// attribute away.
#pragma once
#include <string_view>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo_passes {

/// Sets the attribute; nothing for "none". EARG001 with the closest mode for an unknown one.
Status allow_fp32_cast(hlo::Module& module, std::string_view mode);

}  // namespace ncc::hlo_passes
