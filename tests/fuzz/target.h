// What the fuzz targets share. Each target is one file that defines `run_input`; linked with libFuzzer
// (preset `fuzz`, clang) it is fuzzed, linked with replay_main.cc it runs the kept inputs as an ordinary
// test.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Runs one input through the target. A finding is a crash, a hang, or a failed property (aborts).
void run_input(std::string_view input);

/// The property of every reader: what it accepts is written as proto and as text, and both are read back.
void check_writers(Result<std::unique_ptr<Module>> read);

}  // namespace ncc::hlo
