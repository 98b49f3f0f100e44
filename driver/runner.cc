#include "driver/runner.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "driver/conditions.h"

namespace ncc::driver {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr size_t kShownLogLines = 10;
constexpr const char* kRoot = "root";

std::string_view status_name(JobStatus status) {
  switch (status) {
    case JobStatus::Pending:
      return "pending";
    case JobStatus::Done:
      return "done";
    case JobStatus::NotStarted:
      return "not started";
    case JobStatus::Failed:
      return "failed";
  }
  return "";
}

class PlanRun {
 public:
  PlanRun(const Plan& plan, const RunContext& context, Host& host, log::Logger& logger)
      : plan_(plan), context_(context), host_(host), logger_(logger) {
    outcome_.records.resize(plan.jobs.size());
  }

  Outcome run() {
    const Clock::time_point start = Clock::now();
    std::string names;
    for (const Job& job : plan_.jobs) names += " " + job.name;
    logger_.write(log::Level::Info, kRoot, "Pipeline:" + names);
    if (const Status imported = import_files(); !imported.is_ok()) fail(explain_status(imported), nullptr);
    for (size_t i = 0; i < plan_.jobs.size() && !outcome_.failure.failed(); ++i) {
      run_job(plan_.jobs[i], i);
      if (const Status written = write_state(); !written.is_ok() && !outcome_.failure.failed())
        fail(explain_status(written), nullptr);
    }
    outcome_.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    // The metrics of a failed compile are as wanted as those of a good one; that they cannot be written (a
    // full disk) matters only if nothing else went wrong.
    if (const Status written = write_metrics(); !written.is_ok() && !outcome_.failure.failed())
      fail(explain_status(written), nullptr);
    return std::move(outcome_);
  }

 private:
  std::string in_work_dir(const std::string& path) const {
    return path.starts_with('/') ? path : context_.work_dir + "/" + path;
  }
  static std::string source(const Job& job, size_t index) {
    return fmt::format("job.{}.{}", job.name, index);
  }

  Status import_files() {
    for (const Import& import : plan_.imports) {
      const std::string to = in_work_dir(import.to);
      if (import.from == to || (!import.required && host_.file_size(import.from) < 0)) continue;
      NCC_TRY(host_.copy_file(import.from, to));
    }
    return Status::ok();
  }

  void run_job(const Job& job, size_t index) {
    JobRecord& record = outcome_.records[index];
    record.reason = job.skip_reason.empty() ? unmet_condition(job) : job.skip_reason;
    if (!record.reason.empty()) {
      record.status = JobStatus::NotStarted;
      logger_.write(log::Level::Info, source(job, index),
                    fmt::format("Job {} not started: {}", job.name, record.reason));
      return;
    }
    record.status = JobStatus::Failed;  // until it has ended well
    if (const int signal = host_.interrupted(); signal != 0) {
      record.exit.kind = process::ExitKind::Interrupted;
      record.exit.value = signal;
      return fail(explain_exit(job, record.exit, false), nullptr);
    }
    if (const Status ready = prepare(job); !ready.is_ok()) return fail(explain_status(ready), &job);
    const bool spoke = start(job, index, record);
    if (const Failure failure = explain_exit(job, record.exit, spoke); failure.failed())
      return fail(failure, &job);
    for (const std::string& path : job.writes)
      if (host_.file_size(in_work_dir(path)) < 0)
        return fail(explain_status(error(Code::EDRV003, job.name, path)), &job);
    record.status = JobStatus::Done;
  }

  std::string unmet_condition(const Job& job) {
    const ConditionContext facts{context_.options, job.name, false, false, [this](const std::string& path) {
                                   return host_.read_file(in_work_dir(path));
                                 }};
    for (const std::string& name : job.run_conditions) {
      const ConditionRow& condition = *find_condition(name);
      if (!condition.holds(facts)) return condition.reason;
    }
    return "";
  }

  /// The tool and its inputs are there, stale outputs are gone, the replay script is written.
  Status prepare(const Job& job) {
    if (job.executable.empty())
      return error(Code::EDRV001, job.tool, job.name, context_.tool_folders, job.tool);
    for (const std::string& path : job.reads)
      if (host_.file_size(in_work_dir(path)) <= 0) return error(Code::EDRV012, job.name, path);
    for (const std::string& path : job.writes) NCC_TRY(clear_output(job, path));
    for (const std::string& path : job.may_write) NCC_TRY(clear_output(job, path));
    return host_.write_file(in_work_dir(fmt::format("replay_{}.sh", job.name)), replay_script(job), true);
  }

  /// A stale file never passes for a result; what the job also reads stays.
  Status clear_output(const Job& job, const std::string& path) {
    NCC_TRY(host_.make_parent_folder(in_work_dir(path)));
    if (std::find(job.reads.begin(), job.reads.end(), path) == job.reads.end())
      host_.remove_file(in_work_dir(path));
    return Status::ok();
  }

  /// Runs the child and fills record.exit; true when it printed something on stderr.
  bool start(const Job& job, size_t index, JobRecord& record) {
    const std::string logger_name = source(job, index);
    const Host::LineWriter job_log = host_.open_log(in_work_dir(fmt::format("log/{}.log", job.name)));
    logger_.write(log::Level::Info, logger_name, "Starting job " + job.name);
    logger_.write(log::Level::Info, logger_name, "Executing " + replay_command(job, context_.work_dir));
    logger_.write(log::Level::Info, logger_name,
                  fmt::format("Replay this job by calling: neuron-driver compile --state {} --pipeline {}",
                              process::shell_quote(in_work_dir("state.json")), job.name));
    bool spoke = false;
    last_lines_.clear();
    process::Listener listener;
    listener.line = [&](process::Stream stream, std::string_view line) {
      if (job_log) job_log(line);
      last_lines_.emplace_back(line.substr(0, 500));
      if (last_lines_.size() > kShownLogLines) last_lines_.pop_front();
      if (stream == process::Stream::Stdout) return logger_.write(log::Level::Info, logger_name, line);
      // Tools print only diagnostics and warnings on stderr: the user sees them as they come.
      spoke = spoke || !line.empty();
      logger_.write_raw_error(logger_name, line);
    };
    listener.tick = [this] { logger_.dot(); };
    record.exit = host_.run({job.executable, job.args, context_.work_dir, plan_.job_timeout_s}, listener);
    logger_.write(log::Level::Info, logger_name,
                  fmt::format("Finished job {} after {:.3f} seconds, peak memory {}", job.name,
                              record.exit.wall_s, format_bytes(record.exit.peak_rss_bytes)));
    return spoke;
  }

  /// Prints what the user needs to act on a failure. `job` is null when no job is to blame.
  void fail(const Failure& failure, const Job* job) {
    outcome_.failure = failure;
    if (!failure.headline.empty()) logger_.write_raw_error(kRoot, failure.headline);
    if (job == nullptr || failure.exit_status >= 128) return;
    outcome_.failed_job = job->name;
    // A tool that said what is wrong has said it all; for the other deaths its last words are the best hint.
    if (failure.exit_status == 70 && !failure.headline.empty() && !last_lines_.empty()) {
      logger_.write_raw_error(kRoot, fmt::format("last lines of {}:", job->name));
      for (const std::string& line : last_lines_) logger_.write_raw_error(kRoot, "  | " + line);
    }
    logger_.write_raw_error(kRoot, fmt::format("job {} failed; artifacts: {}", job->name, context_.work_dir));
    logger_.write_raw_error(kRoot, "replay: " + replay_command(*job, context_.work_dir));
  }

  Status write_state() {
    Json jobs = Json::array();
    // Jobs of an earlier run in the same folder keep their records: a restart adds to the story.
    const std::optional<std::string> before = host_.read_file(in_work_dir("state.json"));
    const Json earlier = before ? Json::parse(*before, nullptr, false) : Json();
    if (earlier.is_object() && earlier.contains("jobs") && earlier["jobs"].is_array())
      for (const Json& record : earlier["jobs"])
        if (record.is_object() && !in_plan(record.value("name", ""))) jobs.push_back(record);
    for (size_t i = 0; i < plan_.jobs.size(); ++i) jobs.push_back(job_record(i));
    const Json state = {
        {"version", 1},           {"work_dir", context_.work_dir},  {"model", Json::array({plan_.model})},
        {"target", plan_.target}, {"command", context_.state_argv}, {"jobs", jobs}};
    return host_.write_file(in_work_dir("state.json"), dump(state), false);
  }

  /// Text with a newline; bytes that are not UTF-8 (odd paths) are replaced, not thrown at.
  static std::string dump(const Json& json) {
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  bool in_plan(const std::string& name) const {
    return std::any_of(plan_.jobs.begin(), plan_.jobs.end(),
                       [&](const Job& job) { return job.name == name; });
  }

  Json job_record(size_t index) const {
    const Job& job = plan_.jobs[index];
    const JobRecord& record = outcome_.records[index];
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

  Status write_metrics() {
    rusage self{};
    ::getrusage(RUSAGE_SELF, &self);
    Json jobs = Json::array();
    for (size_t i = 0; i < plan_.jobs.size(); ++i) {
      const JobRecord& record = outcome_.records[i];
      jobs.push_back({{"name", plan_.jobs[i].name},
                      {"status", status_name(record.status)},
                      {"wall_s", record.exit.wall_s},
                      {"peak_rss_bytes", record.exit.peak_rss_bytes}});
    }
    const Json metrics = {{"exit_status", outcome_.failure.exit_status},
                          {"wall_s", outcome_.wall_s},
                          {"driver_peak_rss_bytes", int64_t{self.ru_maxrss} * 1024},
                          {"jobs", jobs}};
    return host_.write_file(in_work_dir("global_metric_store.json"), dump(metrics), false);
  }

  const Plan& plan_;
  const RunContext& context_;
  Host& host_;
  log::Logger& logger_;
  Outcome outcome_;
  std::deque<std::string> last_lines_;
};

}  // namespace

Outcome run_plan(const Plan& plan, const RunContext& context, Host& host, log::Logger& logger) {
  return PlanRun(plan, context, host, logger).run();
}

}  // namespace ncc::driver
