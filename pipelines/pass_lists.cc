#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "pipelines/pipelines.h"

namespace ncc::pipelines {
namespace {

/// The levels of one job. What yaml-cpp throws is caught by the caller.
class Levels {
 public:
  Levels(const File& file, const std::string& job, const YAML::Node& levels)
      : file_(file), job_(job), levels_(levels) {}

  Result<PassList> resolve(const std::string& level) {
    // A level may build on another one; a chain longer than the number of levels is a circle.
    if (++hops_ > levels_.size() + 1)
      return bad(levels_, fmt::format("passes.{} names levels in a circle", job_));
    const YAML::Node node = levels_[level];
    PassList list;
    if (!node) return list;
    if (node.IsScalar()) return resolve(node.as<std::string>());
    if (node.IsSequence()) {
      list.run = node.as<std::vector<std::string>>();
      return list;
    }
    NCC_ASSIGN(list, resolve(node["like"].as<std::string>()));
    for (const YAML::Node& name : node["without"]) {
      const std::string pass = name.as<std::string>();
      if (!list.run.empty() && std::erase(list.run, pass) == 0)
        return bad(name,
                   fmt::format("passes.{}.{} leaves out '{}', which is not in the list", job_, level, pass));
      if (list.run.empty()) list.skip.push_back(pass);
    }
    return list;
  }

 private:
  Status bad(const YAML::Node& where, const std::string& what) const {
    return error(Code::EDRV005, fmt::format("{}:{}", file_.name, where.Mark().line + 1), what);
  }

  const File& file_;
  const std::string& job_;
  const YAML::Node levels_;
  size_t hops_ = 0;
};

}  // namespace

Result<PassList> pass_list(const File& file, const std::string& job, const std::string& optlevel) {
  // Most files and jobs have no lists; reading a file as YAML to find that out is what planning would cost.
  if (file.text.find("passes:") == std::string::npos || file.text.find(job) == std::string::npos)
    return PassList{};
  try {
    const YAML::Node levels = YAML::Load(file.text)["passes"][job];
    if (!levels) return PassList{};
    if (!levels.IsMap()) return error(Code::EDRV005, file.name, fmt::format("passes.{} is not a map", job));
    return Levels(file, job, levels).resolve("O" + optlevel);
  } catch (const YAML::Exception& bad) {
    return error(Code::EDRV005, fmt::format("{}:{}", file.name, bad.mark.line + 1), bad.msg);
  }
}

Result<PassList> pass_list(const std::string& job, const std::string& optlevel) {
  const std::vector<File>& files = built_in_files();
  const auto file =
      std::find_if(files.begin(), files.end(), [](const File& f) { return f.name == "passes.yaml"; });
  NCC_CHECK(file != files.end(), "passes.yaml is not built in");
  return pass_list(*file, job, optlevel);
}

}  // namespace ncc::pipelines
