// Modules without expected values: what can be said about them all the same.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Writes the module as proto and as text, reads both back and compares structures; then evaluates it when
/// its entry takes no arguments. Verdict pass says in its diagnostic what was done.
Outcome run_unchecked(const Program& program);

}  // namespace ncc::check
