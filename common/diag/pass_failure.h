// What a pass manager makes of a pass that broke: a code of the pass's own, so that reports of one pass can
// be told from those of another. Index 901: an assertion of ours failed in it; 902: anything else was thrown
// in it. Source: spec/driver.md §5.1.
#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "common/diag/status.h"

namespace ncc {

/// Four letters: those of pass_prefixes.def, else I and three of the name: the initials of its first three
/// words, filled up with the letters of the last of fewer ("dead_code_elim" IDCE, "auto-cast" IACA, "unroll"
/// IUNR).
std::string pass_prefix(std::string_view pass);

/// EINT901 or EINT902 under the pass's own code ("IDCE901"); the cause names the pass. Running out of memory
/// is no failure of the pass: it must not come here.
Status pass_failure(std::string_view pass, const std::exception& failure);

}  // namespace ncc
