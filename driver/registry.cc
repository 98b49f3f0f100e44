#include "driver/registry.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "common/diag/suggest.h"
#include "driver/conditions.h"

namespace ncc::driver {
namespace {

constexpr std::array<const char*, 3> kCollectors = {"front", "walrus", "backend"};
const std::vector<std::string> kJobKeys = {
    "kind",     "tool",           "action",    "run_if",       "argv",         "reads",
    "may_read", "writes",         "may_write", "may_be_empty", "state",        "for_each",
    "stderr",   "propagate_exit", "timeout",   "memory_limit", "pass_metrics", "cache"};
const std::vector<std::string> kActions = {"keep_work_folder"};

/// One file into the registry under construction. What yaml-cpp throws is caught by the caller.
class Reader {
 public:
  Reader(const pipelines::File& file, Registry& registry,
         std::map<std::string, std::vector<CollectorEntry>>& lists)
      : file_(file), registry_(registry), collectors_(lists) {}

  Status read() {
    const YAML::Node root = YAML::Load(file_.text);
    NCC_TRY(check_keys(root, "the file", {"jobs", "collectors", "passes"}));
    if (root["jobs"] && !root["jobs"].IsMap()) return bad(root["jobs"], "jobs is not a map");
    for (const auto& job : root["jobs"]) NCC_TRY(read_job(job.first.as<std::string>(), job.second));
    const YAML::Node lists = root["collectors"];
    if (lists)
      NCC_TRY(
          check_keys(lists, "collectors", std::vector<std::string>(kCollectors.begin(), kCollectors.end())));
    for (const auto& list : lists) {
      std::vector<CollectorEntry>& entries = collectors_[list.first.as<std::string>()];
      entries.clear();
      if (!list.second.IsSequence())
        return bad(list.second, fmt::format("collector {} is not a list", list.first.as<std::string>()));
      for (const YAML::Node& entry : list.second) NCC_TRY(read_entry(entry, entries));
    }
    return read_passes(root["passes"]);
  }

 private:
  /// The message carries the line: "mine.yaml:7".
  Status bad(const YAML::Node& where, const std::string& what) const {
    return error(Code::EDRV005, fmt::format("{}:{}", file_.name, where.Mark().line + 1), what);
  }

  Status check_keys(const YAML::Node& map, const std::string& where,
                    const std::vector<std::string>& allowed) {
    if (!map.IsMap()) return bad(map, where + " is not a map");
    for (const auto& entry : map) {
      const std::string key = entry.first.as<std::string>();
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        return bad(entry.first, fmt::format("unknown key '{}' in {}, did you mean '{}'?", key, where,
                                            closest_name(key, allowed)));
    }
    return Status::ok();
  }

  Status read_text(const YAML::Node& map, const char* key, std::string& to) {
    const YAML::Node node = map[key];
    if (!node) return Status::ok();
    if (!node.IsScalar()) return bad(node, fmt::format("{} is not a text", key));
    to = node.as<std::string>();
    return Status::ok();
  }

  Status read_texts(const YAML::Node& map, const char* key, std::vector<std::string>& to) {
    const YAML::Node node = map[key];
    if (!node) return Status::ok();
    if (!node.IsSequence()) return bad(node, fmt::format("{} is not a list", key));
    for (const YAML::Node& element : node) {
      if (!element.IsScalar()) return bad(element, fmt::format("an element of {} is not a text", key));
      to.push_back(element.as<std::string>());
    }
    return Status::ok();
  }

  Status read_bool(const YAML::Node& map, const char* key, bool& to) {
    const YAML::Node node = map[key];
    if (node && !YAML::convert<bool>::decode(node, to))
      return bad(node, fmt::format("{} is neither true nor false", key));
    return Status::ok();
  }

  Status read_number(const YAML::Node& map, const char* key, double& to) {
    const YAML::Node node = map[key];
    if (node && (!YAML::convert<double>::decode(node, to) || !(to >= 0)))
      return bad(node, fmt::format("{} is not a number of at least 0", key));
    return Status::ok();
  }

  /// One of `names`; its position.
  Status read_choice(const YAML::Node& map, const char* key, const std::vector<std::string>& names,
                     size_t& to) {
    std::string text;
    NCC_TRY(read_text(map, key, text));
    if (text.empty()) return Status::ok();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end())
      return bad(map[key],
                 fmt::format("unknown {} '{}', did you mean '{}'?", key, text, closest_name(text, names)));
    to = static_cast<size_t>(found - names.begin());
    return Status::ok();
  }

  Status read_conditions(const YAML::Node& map, const char* key, std::vector<std::string>& names) {
    NCC_TRY(read_texts(map, key, names));
    for (size_t i = 0; i < names.size(); ++i)
      if (find_condition(names[i]) == nullptr) return unknown_condition(map[key][i], names[i]);
    return Status::ok();
  }

  Status unknown_condition(const YAML::Node& where, const std::string& name) {
    std::vector<std::string> known;
    for (const ConditionRow& row : all_conditions()) known.push_back(row.name);
    return bad(where,
               fmt::format("unknown condition '{}', did you mean '{}'?", name, closest_name(name, known)));
  }

  Status read_job(const std::string& name, const YAML::Node& node) {
    NCC_TRY(check_keys(node, "job " + name, kJobKeys));
    JobTemplate job;
    job.name = name;
    size_t kind = 0, policy = 0, each = 0;
    NCC_TRY(read_choice(node, "kind", {"process", "in_process"}, kind));
    NCC_TRY(read_choice(node, "stderr", {"relay", "capture", "merge"}, policy));
    NCC_TRY(read_choice(node, "for_each", {"", "subgraph"}, each));
    job.kind = static_cast<JobKind>(kind);
    job.stderr_policy = static_cast<StderrPolicy>(policy);
    job.for_each_subgraph = each == 1;
    NCC_TRY(read_text(node, "tool", job.tool));
    NCC_TRY(read_text(node, "action", job.action));
    if (job.kind == JobKind::Process && job.tool.empty())
      return bad(node, fmt::format("job {} has no tool", name));
    if (job.kind == JobKind::InProcess &&
        std::find(kActions.begin(), kActions.end(), job.action) == kActions.end())
      return bad(node,
                 fmt::format("job {} has no action that the driver knows ({})", name, kActions.front()));
    NCC_TRY(read_conditions(node, "run_if", job.run_if));
    if (node["argv"] && !node["argv"].IsSequence()) return bad(node["argv"], "argv is not a list");
    for (const YAML::Node& part : node["argv"]) NCC_TRY(read_argv_part(part, job));
    NCC_TRY(read_texts(node, "reads", job.reads));
    NCC_TRY(read_texts(node, "may_read", job.may_read));
    NCC_TRY(read_texts(node, "writes", job.writes));
    NCC_TRY(read_texts(node, "may_write", job.may_write));
    NCC_TRY(read_texts(node, "may_be_empty", job.may_be_empty));
    NCC_TRY(read_state(node["state"], job));
    NCC_TRY(read_bool(node, "propagate_exit", job.propagate_exit));
    NCC_TRY(read_bool(node, "cache", job.cacheable));
    NCC_TRY(read_number(node, "timeout", job.timeout_s));
    double limit = 0;
    NCC_TRY(read_number(node, "memory_limit", limit));
    job.memory_limit_bytes = static_cast<int64_t>(limit);
    NCC_TRY(read_text(node, "pass_metrics", job.pass_metrics));
    registry_.jobs[name] = std::move(job);
    return Status::ok();
  }

  Status read_state(const YAML::Node& node, JobTemplate& job) {
    if (!node) return Status::ok();
    if (!node.IsMap()) return bad(node, "state is not a map");
    for (const auto& entry : node) {
      if (!entry.second.IsScalar()) return bad(entry.second, "a value of state is not a text");
      job.state[entry.first.as<std::string>()] = entry.second.as<std::string>();
    }
    return Status::ok();
  }

  Status read_argv_part(const YAML::Node& node, JobTemplate& job) {
    if (node.IsScalar()) {
      job.argv.push_back({"", {node.as<std::string>()}});
      return Status::ok();
    }
    NCC_TRY(check_keys(node, fmt::format("argv of job {}", job.name), {"if", "args"}));
    ArgvPart part;
    NCC_TRY(read_text(node, "if", part.condition));
    NCC_TRY(read_texts(node, "args", part.args));
    if (part.condition.empty() || part.args.empty())
      return bad(node, fmt::format("argv of job {}: an entry needs if and args", job.name));
    const ConditionRow* condition = find_condition(part.condition);
    if (condition == nullptr) return unknown_condition(node["if"], part.condition);
    if (condition->time == ConditionTime::Run)
      return bad(node["if"], fmt::format("condition '{}' is not known while planning", part.condition));
    job.argv.push_back(std::move(part));
    return Status::ok();
  }

  Status read_entry(const YAML::Node& node, std::vector<CollectorEntry>& entries) {
    CollectorEntry entry;
    if (node.IsScalar()) {
      entry.job = node.as<std::string>();
    } else {
      NCC_TRY(check_keys(node, "a collector's entry", {"job", "when", "unless"}));
      NCC_TRY(read_text(node, "job", entry.job));
      NCC_TRY(read_conditions(node, "when", entry.when));
      NCC_TRY(read_conditions(node, "unless", entry.unless));
    }
    if (!registry_.jobs.contains(entry.job))
      return bad(node, fmt::format("unknown job '{}', did you mean '{}'?", entry.job,
                                   closest_name(entry.job, registry_.job_names())));
    entries.push_back(entry);
    return Status::ok();
  }

  /// Shape only: which names are passes, the tools know.
  Status read_passes(const YAML::Node& passes) {
    if (!passes) return Status::ok();
    if (!passes.IsMap()) return bad(passes, "passes is not a map");
    for (const auto& job : passes) {
      const std::string where = "passes." + job.first.as<std::string>();
      NCC_TRY(check_keys(job.second, where, {"O0", "O1", "O2", "O3"}));
      for (const auto& level : job.second) {
        if (level.second.IsMap()) {
          NCC_TRY(read_reduced_level(where + "." + level.first.as<std::string>(), level.second));
        } else if (!level.second.IsScalar() && !level.second.IsSequence()) {
          return bad(level.second,
                     where + ": a level is a list of passes, another level's name, or like and without");
        }
      }
    }
    return Status::ok();
  }

  /// {like: O2, without: [a, b]}.
  Status read_reduced_level(const std::string& where, const YAML::Node& level) {
    NCC_TRY(check_keys(level, where, {"like", "without"}));
    std::string like;
    std::vector<std::string> without;
    NCC_TRY(read_text(level, "like", like));
    NCC_TRY(read_texts(level, "without", without));
    return like.empty() ? bad(level, where + " does not say which level it is like") : Status::ok();
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
      return error(Code::EDRV005, fmt::format("{}:{}", file.name, bad.mark.line + 1), bad.msg);
    }
    registry.sources.insert(registry.sources.begin(), file);
  }
  for (const char* name : kCollectors)
    registry.entries.insert(registry.entries.end(), collectors[name].begin(), collectors[name].end());
  return registry;
}

}  // namespace ncc::driver
