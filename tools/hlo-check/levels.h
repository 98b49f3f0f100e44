// Running a program at one level of the ladder.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Runs the program in `dir` (an empty folder of its own) and compares. Everything that goes wrong is in the
/// outcome.
Outcome run_program(const Program& program, const Settings& settings, const std::string& dir);

/// The outcome of a failed status: unsupported, mismatch or error.
Outcome outcome_of(const Status& status);

}  // namespace ncc::check
