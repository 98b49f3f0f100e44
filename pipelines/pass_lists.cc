#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "pipelines/pipelines.h"

namespace ncc::pipelines {

Result<std::vector<std::string>> pass_list(const File& file, const std::string& job,
                                           const std::string& optlevel) {
  // Most files and jobs have no lists; reading a file as YAML to find that out is what planning would cost.
  if (file.text.find("passes:") == std::string::npos || file.text.find(job) == std::string::npos)
    return std::vector<std::string>{};
  try {
    const YAML::Node levels = YAML::Load(file.text)["passes"][job];
    if (!levels) return std::vector<std::string>{};
    if (!levels.IsMap()) return error(Code::EDRV005, file.name, fmt::format("passes.{} is not a map", job));
    std::string level = "O" + optlevel;
    // A level may name another one; a chain longer than the number of levels is a circle.
    for (size_t hops = 0; hops <= levels.size(); ++hops) {
      const YAML::Node list = levels[level];
      if (!list) return std::vector<std::string>{};
      if (list.IsSequence()) return list.as<std::vector<std::string>>();
      level = list.as<std::string>();
    }
    return error(Code::EDRV005, file.name, fmt::format("passes.{} names levels in a circle", job));
  } catch (const YAML::Exception& bad) {
    return error(Code::EDRV005, fmt::format("{}:{}", file.name, bad.mark.line + 1), bad.msg);
  }
}

Result<std::vector<std::string>> pass_list(const std::string& job, const std::string& optlevel) {
  const std::vector<File>& files = built_in_files();
  const auto file =
      std::find_if(files.begin(), files.end(), [](const File& f) { return f.name == "passes.yaml"; });
  NCC_CHECK(file != files.end(), "passes.yaml is not built in");
  return pass_list(*file, job, optlevel);
}

}  // namespace ncc::pipelines
