// hlo-opt over HLO modules: HLO in any form in, HLO passes, HLO text, proto or statistics out.
#pragma once
#include <string>
#include <vector>

#include "common/diag/status.h"

namespace ncc::hlo_opt {

struct HloOptions {
  std::string input, output, emit = "text";  // output "" = standard output
  std::vector<std::string> passes, skip;
  std::string print_after, check_after, check_inputs;  // lists of pass names, "all"
  bool check_specials = false, check_each = false, no_passes = false;
  double check_seconds = 0;  // of check_each: no interpretation starts later; 0 = no limit
  int64_t check_seed = 1, max_folded_bytes = -1, max_unrolled_trips = -1;
  bool time_passes = false, no_metadata = false;
  std::string fp32_cast = "none";  // mode of the pass auto-cast
};

/// True when the file is not a Penguin module. Errors: EFIL001.
Result<bool> is_hlo_input(const std::string& path);

/// Prints to standard output what was asked for.
Status run_hlo_level(const HloOptions& options);

/// Prints one line per HLO pass: name, stage, rounding, summary.
void list_hlo_passes();

}  // namespace ncc::hlo_opt
