// What a run leaves about itself: state.json (to go on from) and global_metric_store.json (to measure by),
// and the same as a table for people. Source: spec/driver.md §4.4, §4.5.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "driver/runner.h"

namespace ncc::driver {

/// The text of state.json. `earlier` is the file of a run before in the same folder: jobs that this plan does
/// not have keep their records. `subgraphs` are the sgNN folders.
std::string state_text(const Plan& plan, const RunContext& context, const Outcome& outcome,
                       const std::optional<std::string>& earlier, const std::vector<std::string>& subgraphs);

/// The text of global_metric_store.json.
std::string metrics_text(const Plan& plan, const Outcome& outcome);

/// The passes that a tool's metrics file lists; empty when it is not such a file.
std::vector<PassTime> read_pass_times(const std::string& text);

/// The text of --time-report: a line per job, indented lines per pass.
std::string time_report(const Plan& plan, const Outcome& outcome);

}  // namespace ncc::driver
