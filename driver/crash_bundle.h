// --crash-bundle: one .tar with all that is needed to look at a failure elsewhere: what the failed job read,
// how it was called, logs, state, versions.
#pragma once
#include <string>
#include <vector>

#include "driver/plan.h"

namespace ncc::driver {

/// Writes the bundle of a failed job. `command` is the user's command line, `versions` the text of --version.
/// EFIL002. A file that is not there is left out.
Status write_crash_bundle(const std::string& path, const Plan& plan, const std::string& failed_job,
                          const std::string& work_dir, const std::string& command,
                          const std::string& versions);

}  // namespace ncc::driver
