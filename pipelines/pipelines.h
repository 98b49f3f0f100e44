// The pipeline files, compiled in: job registry, job order, pass lists. The driver reads all of them; a tool
// run by hand asks for its own pass list, so that both have one source.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"

namespace ncc::pipelines {

struct File {
  std::string name;  // "jobs.yaml"
  std::string text;
};

/// jobs.yaml, default.yaml, passes.yaml as they stood when this binary was built.
const std::vector<File>& built_in_files();

/// The pass names of a job ("Frontend", "WalrusDriver") at an optimisation level "0".."3", from the text of a
/// file with a `passes:` map. Empty when the file has no list for it. EDRV005 when the file is malformed.
Result<std::vector<std::string>> pass_list(const File& file, const std::string& job,
                                           const std::string& optlevel);

/// The same from the built-in file.
Result<std::vector<std::string>> pass_list(const std::string& job, const std::string& optlevel);

}  // namespace ncc::pipelines
