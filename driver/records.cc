#include "driver/records.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ncc::driver {
namespace {

using Json = nlohmann::ordered_json;

/// Text with a newline; bytes that are not UTF-8 (odd paths) are replaced, not thrown at.
std::string dump(const Json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool in_plan(const Plan& plan, const std::string& name) {
  return std::any_of(plan.jobs.begin(), plan.jobs.end(), [&](const Job& job) { return job.name == name; });
}

Json job_record(const Job& job, const JobRecord& record) {
  std::vector<std::string> argv = {job.executable};
  argv.insert(argv.end(), job.args.begin(), job.args.end());
  Json json = {{"name", job.name}, {"status", status_name(record.status)}};
  if (!record.reason.empty()) json["reason"] = record.reason;
  json["argv"] = argv;
  json["writes"] = job.writes;
  json["wall_s"] = record.exit.wall_s;
  json["peak_rss_bytes"] = record.exit.peak_rss_bytes;
  return json;
}

double cpu_s(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool has_ended_well(JobStatus status) { return status == JobStatus::Done || status == JobStatus::Cached; }

/// The root state and one per subgraph, with the artefacts that ended jobs added to them.
Json states(const Plan& plan, const RunContext& context, const Outcome& outcome,
            const std::vector<std::string>& subgraphs) {
  Json root = {{"state_id", "root"}, {"state_dir", context.work_dir}, {"model", Json::array({plan.model})}};
  std::vector<Json> parts;
  for (const std::string& subgraph : subgraphs)
    parts.push_back({{"state_id", subgraph}, {"state_dir", context.work_dir + "/" + subgraph}});
  for (size_t i = 0; i < plan.jobs.size(); ++i) {
    if (!has_ended_well(outcome.records[i].status)) continue;
    for (const auto& [key, path] : plan.jobs[i].state) {
      if (path.find("{sg}") == std::string::npos) root[key] = path;
      for (size_t n = 0; n < subgraphs.size() && path.find("{sg}") != std::string::npos; ++n)
        parts[n][key] = for_subgraph(plan.jobs[i], subgraphs[n]).state.at(key);
    }
  }
  Json all = Json::array({root});
  for (Json& part : parts) all.push_back(std::move(part));
  return all;
}

/// Every option that the user gave: its value under its name, and that it was given under <name>_Used.
Json given_options(const Options& options) {
  Json given = Json::object();
  for (const OptionRow& option : all_options()) {
    if (!options.used(option.id)) continue;
    if (option.is_list() || option.action == OptionAction::Words)
      given[option.dest] = options.list(option.id);
    else if (option.is_boolean())
      given[option.dest] = options.flag(option.id);
    else
      given[option.dest] = options.text(option.id);
    given[option.dest + "_Used"] = true;
  }
  return given;
}

}  // namespace

std::string_view status_name(JobStatus status) {
  switch (status) {
    case JobStatus::Pending:
      return "pending";
    case JobStatus::Done:
      return "done";
    case JobStatus::Cached:
      return "cached";
    case JobStatus::NotStarted:
      return "not started";
    case JobStatus::Ignored:
      return "failed, ignored";
    case JobStatus::Failed:
      return "failed";
  }
  return "";
}

std::string state_text(const Plan& plan, const RunContext& context, const Outcome& outcome,
                       const std::optional<std::string>& earlier, const std::vector<std::string>& subgraphs) {
  Json jobs = Json::array();
  const Json before = earlier ? Json::parse(*earlier, nullptr, false) : Json();
  if (before.is_object() && before.contains("jobs") && before["jobs"].is_array())
    for (const Json& record : before["jobs"])
      if (record.is_object() && record.contains("name") && record["name"].is_string() &&
          !in_plan(plan, record["name"].get<std::string>()))
        jobs.push_back(record);
  for (size_t i = 0; i < plan.jobs.size(); ++i) jobs.push_back(job_record(plan.jobs[i], outcome.records[i]));
  return dump({{"version", 1},
               {"work_dir", context.work_dir},
               {"model", Json::array({plan.model})},
               {"target", plan.target},
               {"command", context.state_argv},
               {"options", given_options(context.options)},
               {"states", states(plan, context, outcome, subgraphs)},
               {"jobs", jobs}});
}

std::string metrics_text(const Plan& plan, const Outcome& outcome) {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  Json jobs = Json::array();
  double job_wall_s = 0;
  for (size_t i = 0; i < plan.jobs.size(); ++i) {
    const JobRecord& record = outcome.records[i];
    Json passes = Json::array();
    for (const PassTime& pass : record.passes)
      passes.push_back({{"name", pass.name}, {"wall_s", pass.wall_s}});
    jobs.push_back({{"name", plan.jobs[i].name},
                    {"status", status_name(record.status)},
                    {"wall_s", record.exit.wall_s},
                    {"user_s", record.exit.user_s},
                    {"system_s", record.exit.system_s},
                    {"peak_rss_bytes", record.exit.peak_rss_bytes},
                    {"machine_peak_bytes", record.exit.machine_peak_bytes},
                    {"passes", passes}});
    job_wall_s += record.exit.wall_s;
  }
  return dump({{"exit_status", outcome.failure.exit_status},
               {"wall_s", outcome.wall_s},
               {"driver_overhead_s", outcome.wall_s - job_wall_s},
               {"driver_cpu_s", cpu_s(self)},
               {"driver_peak_rss_bytes", int64_t{self.ru_maxrss} * 1024},
               {"jobs", jobs}});
}

std::vector<PassTime> read_pass_times(const std::string& text) {
  std::vector<PassTime> times;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("passes") || !json["passes"].is_array()) return times;
  for (const nlohmann::json& pass : json["passes"])
    if (pass.is_object() && pass.contains("name") && pass["name"].is_string() && pass.contains("wall_us") &&
        pass["wall_us"].is_number())
      times.push_back({pass["name"].get<std::string>(), pass["wall_us"].get<double>() * 1e-6});
  return times;
}

std::string time_report(const Plan& plan, const Outcome& outcome) {
  std::string text =
      fmt::format("{:<40} {:>9} {:>9} {:>10}\n", "job and pass", "wall s", "cpu s", "peak MiB");
  double job_wall_s = 0;
  for (size_t i = 0; i < plan.jobs.size(); ++i) {
    const JobRecord& record = outcome.records[i];
    if (record.status == JobStatus::Pending || record.status == JobStatus::NotStarted) continue;
    const std::string mark =
        record.status == JobStatus::Done ? "" : fmt::format(" ({})", status_name(record.status));
    text += fmt::format("{:<40} {:>9.3f} {:>9.3f} {:>10.1f}\n", plan.jobs[i].name + mark, record.exit.wall_s,
                        record.exit.user_s + record.exit.system_s,
                        static_cast<double>(record.exit.peak_rss_bytes) / (1 << 20));
    for (const PassTime& pass : record.passes)
      text += fmt::format("  {:<38} {:>9.3f}\n", pass.name, pass.wall_s);
    job_wall_s += record.exit.wall_s;
  }
  text += fmt::format("{:<40} {:>9.3f}\n", "driver", outcome.wall_s - job_wall_s);
  return text + fmt::format("{:<40} {:>9.3f}\n", "all", outcome.wall_s);
}

}  // namespace ncc::driver
