// What the precision options mean together. Source: spec/driver.md §1.7.
#pragma once
#include <string>

#include "driver/options.h"

namespace ncc::driver {

/// The cast mode in hlo2penguin's words ("matmult-bf16", "all-fp8e4"); "" when nothing may be cast.
/// --auto-cast decides when it is given, else the last word of --fast-math that speaks of casts.
std::string fp32_cast_mode(const Options& options);

}  // namespace ncc::driver
