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

/// What a level says: these passes in this order; or, when `run` is empty, the tool's own list without
/// `skip`.
struct PassList {
  std::vector<std::string> run, skip;

  bool empty() const { return run.empty() && skip.empty(); }
};

/// The passes of a job ("Frontend", "WalrusDriver") at an optimisation level "0".."3", from the text of a
/// file with a `passes:` map. Empty when the file says nothing on them. EDRV005 when the file is malformed.
Result<PassList> pass_list(const File& file, const std::string& job, const std::string& optlevel);

/// The same from the built-in file.
Result<PassList> pass_list(const std::string& job, const std::string& optlevel);

}  // namespace ncc::pipelines
