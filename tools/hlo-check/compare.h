// Comparison of results with expected values, by the rules of the check dialect and of the corpus.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Compares all checks; `results` are the leaves of the program's result. Sets verdict Mismatch with a
/// diagnostic that names the first failing element, and the largest differences seen anywhere.
void compare_results(const Program& program, const std::vector<hlo::Literal>& results, Level level,
                     Outcome& outcome);

}  // namespace ncc::check
