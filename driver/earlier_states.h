// --state: what an earlier compile left. A value is a path or the JSON text itself: a whole state.json, or
// one of the states in it ({"state_id": "sg00", "state_dir": …}), which also says that jobs for each subgraph
// run for that one. Source: spec/driver.md §1.6, §4.5.
#pragma once
#include <string>
#include <vector>

#include "common/diag/status.h"

namespace ncc::driver {

struct EarlierStates {
  std::vector<std::string> argv;       // options and model of that compile, with its --temp-dir
  std::vector<std::string> subgraphs;  // the ones that were named; empty = all
};

/// Relative paths are of `launch_dir`. EDRV011 for what is no state, and for states of different work
/// folders.
Result<EarlierStates> read_earlier_states(const std::vector<std::string>& values,
                                          const std::string& launch_dir);

}  // namespace ncc::driver
