// A StableHLO test module as a program: what the test calls an input becomes a parameter, what it expects
// stays here.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Reads a test file (its modules are split at `// -----`) into one program per module. A module without
/// any check is one that is measured by reading it back.
Result<std::vector<Program>> load_stablehlo_case(const std::string& path);

/// The same for one module that is already read. Nothing when it has no check.
Result<std::optional<Program>> parameterise(const hlo::Module& test);

}  // namespace ncc::check
