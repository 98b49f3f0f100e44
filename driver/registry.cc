#include "driver/registry.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "driver/conditions.h"

namespace ncc::driver {
namespace {

constexpr std::array<const char*, 3> kCollectors = {"front", "walrus", "backend"};

/// One file into the registry under construction. What yaml-cpp throws is caught by the caller.
class Reader {
 public:
  Reader(const pipelines::File& file, Registry& registry,
         std::map<std::string, std::vector<CollectorEntry>>& lists)
      : file_(file), registry_(registry), collectors_(lists) {}

  Status read() {
    const YAML::Node root = YAML::Load(file_.text);
    NCC_TRY(check_keys(root, "the file", {"jobs", "collectors", "passes"}));
    if (root["jobs"] && !root["jobs"].IsMap()) return bad("jobs is not a map");
    for (const auto& job : root["jobs"]) NCC_TRY(read_job(job.first.as<std::string>(), job.second));
    const YAML::Node lists = root["collectors"];
    if (lists)
      NCC_TRY(
          check_keys(lists, "collectors", std::vector<std::string>(kCollectors.begin(), kCollectors.end())));
    for (const auto& list : lists) {
      std::vector<CollectorEntry>& entries = collectors_[list.first.as<std::string>()];
      entries.clear();
      if (!list.second.IsSequence())
        return bad(fmt::format("collector {} is not a list", list.first.as<std::string>()));
      for (const YAML::Node& entry : list.second) NCC_TRY(read_entry(entry, entries));
    }
    return Status::ok();
  }

 private:
  Status bad(const std::string& what) const { return error(Code::EDRV005, file_.name, what); }

  Status check_keys(const YAML::Node& map, const std::string& where,
                    const std::vector<std::string>& allowed) {
    if (!map.IsMap()) return bad(where + " is not a map");
    for (const auto& entry : map) {
      const std::string key = entry.first.as<std::string>();
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        return bad(fmt::format("unknown key '{}' in {}", key, where));
    }
    return Status::ok();
  }

  Status read_conditions(const YAML::Node& node, std::vector<std::string>& names) {
    if (!node) return Status::ok();
    names = node.as<std::vector<std::string>>();
    for (const std::string& name : names)
      if (find_condition(name) == nullptr) return bad(fmt::format("unknown condition '{}'", name));
    return Status::ok();
  }

  Status read_job(const std::string& name, const YAML::Node& node) {
    NCC_TRY(check_keys(node, "job " + name, {"tool", "run_if", "argv", "reads", "writes", "may_write"}));
    JobTemplate job;
    job.name = name;
    if (!node["tool"]) return bad(fmt::format("job {} has no tool", name));
    job.tool = node["tool"].as<std::string>();
    NCC_TRY(read_conditions(node["run_if"], job.run_if));
    for (const YAML::Node& part : node["argv"]) NCC_TRY(read_argv_part(part, job));
    if (node["reads"]) job.reads = node["reads"].as<std::vector<std::string>>();
    if (node["writes"]) job.writes = node["writes"].as<std::vector<std::string>>();
    if (node["may_write"]) job.may_write = node["may_write"].as<std::vector<std::string>>();
    registry_.jobs[name] = std::move(job);
    return Status::ok();
  }

  Status read_argv_part(const YAML::Node& node, JobTemplate& job) {
    if (node.IsScalar()) {
      job.argv.push_back({"", {node.as<std::string>()}});
      return Status::ok();
    }
    NCC_TRY(check_keys(node, fmt::format("argv of job {}", job.name), {"if", "args"}));
    ArgvPart part{node["if"].as<std::string>(), node["args"].as<std::vector<std::string>>()};
    const ConditionRow* condition = find_condition(part.condition);
    if (condition == nullptr) return bad(fmt::format("unknown condition '{}'", part.condition));
    if (condition->time == ConditionTime::Run)
      return bad(fmt::format("condition '{}' is not known while planning", part.condition));
    job.argv.push_back(std::move(part));
    return Status::ok();
  }

  Status read_entry(const YAML::Node& node, std::vector<CollectorEntry>& entries) {
    CollectorEntry entry;
    if (node.IsScalar()) {
      entry.job = node.as<std::string>();
    } else {
      NCC_TRY(check_keys(node, "a collector's entry", {"job", "when", "unless"}));
      entry.job = node["job"].as<std::string>();
      NCC_TRY(read_conditions(node["when"], entry.when));
      NCC_TRY(read_conditions(node["unless"], entry.unless));
    }
    entries.push_back(std::move(entry));
    return Status::ok();
  }

  const pipelines::File& file_;
  Registry& registry_;
  std::map<std::string, std::vector<CollectorEntry>>& collectors_;
};

}  // namespace

std::vector<std::string> Registry::job_names() const {
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs) names.push_back(name);
  return names;
}

Result<Registry> load_registry(const std::vector<pipelines::File>& files) {
  Registry registry;
  std::map<std::string, std::vector<CollectorEntry>> collectors;
  for (const pipelines::File& file : files) {
    try {
      NCC_TRY(Reader(file, registry, collectors).read());
    } catch (const YAML::Exception& bad) {
      return error(Code::EDRV005, file.name, std::string(bad.what()));
    }
    registry.sources.insert(registry.sources.begin(), file);
  }
  for (const char* name : kCollectors) {
    for (const CollectorEntry& entry : collectors[name]) {
      if (!registry.jobs.contains(entry.job))
        return error(Code::EDRV005, files.back().name,
                     fmt::format("unknown job '{}' in {}", entry.job, name));
      registry.entries.push_back(entry);
    }
  }
  return registry;
}

}  // namespace ncc::driver
