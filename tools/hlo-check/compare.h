// Comparison of results with expected values, by the rules of the check dialect and of the corpus.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Compares all checks; `results` are the leaves of the program's result. Sets verdict Mismatch with a
/// diagnostic that names the first failing element, and the largest differences seen anywhere.
void compare_results(const Program& program, const std::vector<hlo::Literal>& results, Level level,
                     Outcome& outcome);

/// Distance in units of the last place between two values of a float type; int64 max when one is not finite
/// and they differ; 0 for NaN pairs and for zeros of either sign.
int64_t ulp_distance(Dtype type, double a, double b);

}  // namespace ncc::check
