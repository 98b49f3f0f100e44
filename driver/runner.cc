#include "driver/runner.h"

#include <algorithm>
#include <chrono>

#include "driver/conditions.h"
#include "driver/records.h"
#include "driver/subgraphs.h"

namespace ncc::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kShownLogLines = 20;
constexpr std::chrono::seconds kDotInterval(1);
constexpr size_t kShownLineLength = 500;
constexpr int64_t kFullDiskBytes = 16 << 10;  // less free space than this: what failed, failed for that
constexpr std::string_view kPassLine = "[pass]: Running ";
constexpr std::string_view kOpLine = "at ";  // how a diagnostic names the user's op
constexpr const char* kRoot = "root";
constexpr const char* kOnlySubgraph = "sg00";

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
    if (context_.progress != nullptr) context_.progress->clear();
    outcome_.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    // The metrics of a failed compile are as wanted as those of a good one; that they cannot be written (a
    // full disk) matters only if nothing else went wrong.
    const Status written =
        host_.write_file(in_work_dir("global_metric_store.json"), metrics_text(plan_, outcome_), false);
    if (!written.is_ok() && !outcome_.failure.failed()) fail(explain_status(written), nullptr);
    return std::move(outcome_);
  }

 private:
  std::string in_work_dir(const std::string& path) const {
    return path.starts_with('/') ? path : context_.work_dir + "/" + path;
  }

  /// What a file's name says of the scope: ".sg01", ".nc00.sg01".
  static std::string file_part(const std::string& scope) {
    std::string part = scope.empty() ? "" : "." + scope;
    std::replace(part.begin(), part.end(), '/', '.');
    return part;
  }

  Status import_files() {
    for (const Import& import : plan_.imports) {
      const std::string to = in_work_dir(import.to);
      if (import.from == to || (!import.required && host_.file_size(import.from) < 0)) continue;
      NCC_TRY(host_.copy_file(import.from, to));
    }
    return Status::ok();
  }

  /// The subgraphs that jobs run for: those that the user names, else all; "sg00" when there is none yet, so
  /// that what is missing is named.
  Result<std::vector<std::string>> subgraphs() {
    if (!plan_.subgraphs.empty()) return plan_.subgraphs;
    NCC_ASSIGN(std::vector<std::string> found, find_subgraphs(host_, context_.work_dir));
    if (found.empty()) found = {kOnlySubgraph};
    return found;
  }

  void run_job(const Job& job, size_t index) {
    JobRecord& record = outcome_.records[index];
    logger_name_ = fmt::format("job.{}.{}", job.name, index);
    if (context_.progress != nullptr) context_.progress->job(job.name, index, plan_.jobs.size());
    record.reason = job.skip_reason.empty() ? unmet_condition(job) : job.skip_reason;
    if (!record.reason.empty()) {
      record.status = JobStatus::NotStarted;
      logger_.write(log::Level::Info, logger_name_,
                    fmt::format("Job {} not started: {}", job.name, record.reason));
      return;
    }
    if (job.kind == JobKind::InProcess) {
      record.status = JobStatus::Done;  // the plan has taken account of it
      return;
    }
    std::vector<std::string> scopes = {""};
    if (job.for_each_subgraph) {
      Result<std::vector<std::string>> found = subgraphs();
      if (!found.is_ok()) {
        record.status = JobStatus::Failed;
        return fail(explain_status(found.status()), &job);
      }
      scopes = found.take();
    }
    logger_.write(log::Level::Info, logger_name_,
                  fmt::format("Job {} len(in_states) {}", job.name, scopes.size()));
    EqualSubgraphs equal(host_, context_.work_dir);
    for (size_t i = 0; i < scopes.size() && !outcome_.failure.failed(); ++i) {
      logger_.write(log::Level::Info, logger_name_, fmt::format("Processing input #{}", i));
      const Job one = for_subgraph(job, scopes[i]);
      if (const std::optional<std::string> like = equal.find(job, scopes[i]); like) {
        share(job, equal, *like, scopes[i]);
        continue;
      }
      run_one(one, scopes.size() > 1 ? scopes[i] : "", record);
      const bool ended_well = record.status == JobStatus::Done || record.status == JobStatus::Cached;
      if (scopes.size() > 1 && ended_well) equal.add(job, scopes[i]);
      const std::optional<std::string> metrics =
          one.pass_metrics.empty() ? std::nullopt : host_.read_file(in_work_dir(one.pass_metrics));
      if (metrics && !outcome_.failure.failed())
        for (PassTime& pass : read_pass_times(*metrics)) record.passes.push_back(std::move(pass));
      logger_.write(log::Level::Info, logger_name_, fmt::format("Job #{} finished", i));
    }
  }

  void share(const Job& job, EqualSubgraphs& equal, const std::string& from, const std::string& to) {
    logger_.write(log::Level::Info, logger_name_,
                  fmt::format("{} is equal to {}, whose results it gets", to, from));
    Status shared = prepare(for_subgraph(job, to), to);
    if (shared.is_ok()) shared = equal.share(job, from, to);
    if (!shared.is_ok()) fail(explain_status(shared), &job);
  }

  /// One process (or one result out of the cache). `scope`: the subgraph, when there are several.
  void run_one(const Job& job, const std::string& scope, JobRecord& record) {
    record.status = JobStatus::Failed;  // until it has ended well
    if (const int signal = host_.interrupted(); signal != 0) {
      record.exit.kind = process::ExitKind::Interrupted;
      record.exit.value = signal;
      return fail(explain_exit(job, record.exit, false), nullptr);
    }
    last_lines_.clear();
    if (const Status ready = prepare(job, scope); !ready.is_ok()) return fail(explain_status(ready), &job);
    if (context_.cache != nullptr && job.cacheable && context_.cache->restore(job, context_.work_dir)) {
      record.status = JobStatus::Cached;
      logger_.write(log::Level::Info, logger_name_,
                    fmt::format("Job {}: results out of the cache", job.name));
      return;
    }
    const bool spoke = start(job, scope, record);
    const Failure failure = judge(job, record.exit, spoke);
    if (failure.failed() && !job.propagate_exit && failure.exit_status < 128) {
      record.status = JobStatus::Ignored;
      record.reason = failure.headline.empty() ? "its own diagnostic" : failure.headline;
      return logger_.write_raw_error(
          logger_name_,
          fmt::format("[WARNING] job {} failed, which is ignored: {}", job.name, record.reason));
    }
    if (failure.failed()) return fail(failure, &job);
    record.status = JobStatus::Done;
    if (context_.cache != nullptr && job.cacheable) context_.cache->store(job, context_.work_dir);
  }

  /// What the job's end means, together with what it left and with the disk's state.
  Failure judge(const Job& job, const process::Exit& exit, bool spoke) {
    Failure failure = explain_exit(job, exit, spoke);
    const bool may_be_disk =
        exit.kind == process::ExitKind::Exited && failure.failed() && failure.exit_status != 2;
    if (may_be_disk && host_.free_bytes(context_.work_dir) < kFullDiskBytes)
      return explain_status(error(Code::EDRV009, context_.work_dir));
    if (failure.failed()) return failure;
    for (const std::string& path : job.writes) {
      const int64_t size = host_.file_size(in_work_dir(path));
      const bool may_be_empty =
          std::find(job.may_be_empty.begin(), job.may_be_empty.end(), path) != job.may_be_empty.end();
      const bool cut_off = size > 0 && host_.is_cut_off(in_work_dir(path));
      if (!cut_off && (size > 0 || (size == 0 && may_be_empty))) continue;
      if (host_.free_bytes(context_.work_dir) < kFullDiskBytes)
        return explain_status(error(Code::EDRV009, context_.work_dir));
      const char* state = size < 0 ? "" : cut_off ? " (it is cut off)" : " (it is empty)";
      return explain_status(error(Code::EDRV003, job.name, path + state));
    }
    for (const std::string& path : job.may_write)
      if (path.find('*') == std::string::npos && host_.is_cut_off(in_work_dir(path)))
        return explain_status(error(Code::EDRV003, job.name, path + " (it is cut off)"));
    return {};
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
  Status prepare(const Job& job, const std::string& scope) {
    if (job.executable.empty())
      return error(Code::EDRV001, job.tool, job.name, context_.tool_folders, job.tool);
    for (const std::string& path : job.reads)
      if (host_.file_size(in_work_dir(path)) <= 0) return error(Code::EDRV012, job.name, path);
    for (const std::string& path : job.writes) NCC_TRY(clear_output(job, path));
    for (const std::string& path : job.may_write) NCC_TRY(clear_output(job, path));
    const std::string part = file_part(scope);
    return host_.write_file(in_work_dir(fmt::format("replay_{}{}.sh", job.name, part)), replay_script(job),
                            true);
  }

  /// A stale file never passes for a result; what the job also reads stays.
  Status clear_output(const Job& job, const std::string& path) {
    NCC_TRY(host_.make_parent_folder(in_work_dir(path)));
    if (std::find(job.reads.begin(), job.reads.end(), path) != job.reads.end()) return Status::ok();
    if (path.find('*') == std::string::npos) {
      host_.remove_file(in_work_dir(path));
      return Status::ok();
    }
    for (const std::string& found : host_.matching(in_work_dir(path))) host_.remove_file(found);
    return Status::ok();
  }

  /// Runs the child and adds to record.exit; true when it printed something that the user has seen.
  bool start(const Job& job, const std::string& scope, JobRecord& record) {
    const std::string part = file_part(scope);
    const Host::LineWriter job_log = host_.open_log(in_work_dir(fmt::format("log/{}{}.log", job.name, part)));
    const std::string source = scope.empty() ? logger_name_ : fmt::format("({}) {}", scope, logger_name_);
    logger_.write(log::Level::Info, source, "Starting job " + job.name);
    logger_.write(log::Level::Info, source, "Executing " + replay_command(job, context_.work_dir));
    logger_.write(log::Level::Info, source,
                  fmt::format("Replay this job by calling: neuron-driver compile --state {} --pipeline {}",
                              process::shell_quote(in_work_dir("state.json")), job.name));
    bool spoke = false;
    std::vector<std::string> captured;
    process::Listener listener;
    listener.line = [&](process::Stream stream, std::string_view line) {
      if (job_log) job_log(line);
      last_lines_.emplace_back(line.substr(0, kShownLineLength));
      if (last_lines_.size() > kShownLogLines) last_lines_.pop_front();
      if (stream == process::Stream::Stdout || job.stderr_policy == StderrPolicy::Merge) {
        if (const size_t at = line.find(kPassLine);
            context_.progress != nullptr && at != std::string_view::npos)
          context_.progress->pass(line.substr(at + kPassLine.size()));
        return logger_.write(log::Level::Info, source, line);
      }
      if (job.stderr_policy == StderrPolicy::Capture) return captured.emplace_back(line), void();
      // Tools print only diagnostics and warnings on stderr: the user sees them as they come.
      spoke = spoke || !line.empty();
      if (context_.progress != nullptr) context_.progress->clear();
      logger_.write_raw_error(source, line);
    };
    listener.tick = [this] {
      if (Clock::now() - last_dot_ >= kDotInterval) {
        last_dot_ = Clock::now();
        logger_.dot();
      }
      if (context_.progress != nullptr) context_.progress->tick();
    };
    const process::Exit exit = host_.run(
        {job.executable, job.args, context_.work_dir, job.timeout_s, job.memory_limit_bytes}, listener);
    if (!exit.ok())
      for (const std::string& line : captured) logger_.write_raw_error(source, line);
    spoke = spoke || (!exit.ok() && !captured.empty());
    add(exit, record.exit);
    logger_.write(log::Level::Info, source,
                  fmt::format("Finished job {} after {:.3f} seconds, peak memory {}", job.name, exit.wall_s,
                              format_bytes(exit.peak_rss_bytes)));
    return spoke;
  }

  static void add(const process::Exit& exit, process::Exit& sum) {
    const process::Exit before = sum;
    sum = exit;
    sum.wall_s += before.wall_s;
    sum.user_s += before.user_s;
    sum.system_s += before.system_s;
    sum.peak_rss_bytes = std::max(exit.peak_rss_bytes, before.peak_rss_bytes);
    sum.machine_peak_bytes = std::max(exit.machine_peak_bytes, before.machine_peak_bytes);
  }

  /// Prints what the user needs to act on a failure. `job` is null when no job is to blame.
  void fail(const Failure& failure, const Job* job) {
    outcome_.failure = failure;
    if (context_.progress != nullptr) context_.progress->clear();
    if (!failure.headline.empty()) logger_.write_raw_error(kRoot, failure.headline);
    if (job == nullptr || failure.exit_status >= 128) return;
    outcome_.failed_job = job->name;
    // A tool that said what is wrong has said it all; for the other deaths its last words are the best hint.
    if (failure.exit_status == 70 && !failure.headline.empty() && !last_lines_.empty()) show_last_words(*job);
    logger_.write_raw_error(kRoot, fmt::format("job {} failed; artifacts: {}", job->name, context_.work_dir));
    logger_.write_raw_error(kRoot, "replay: " + replay_command(*job, context_.work_dir));
  }

  void show_last_words(const Job& job) {
    logger_.write_raw_error(kRoot, fmt::format("last lines of {}:", job.name));
    for (const std::string& line : last_lines_) logger_.write_raw_error(kRoot, "  | " + line);
    const auto op = std::find_if(last_lines_.rbegin(), last_lines_.rend(),
                                 [](const std::string& line) { return line.starts_with(kOpLine); });
    if (op != last_lines_.rend()) logger_.write_raw_error(kRoot, "failing op: " + op->substr(kOpLine.size()));
  }

  std::vector<std::string> existing_subgraphs() {
    Result<std::vector<std::string>> found = find_subgraphs(host_, context_.work_dir);
    return found.is_ok() ? found.take() : std::vector<std::string>{};
  }

  Status write_state() {
    return host_.write_file(in_work_dir("state.json"),
                            state_text(plan_, context_, outcome_, host_.read_file(in_work_dir("state.json")),
                                       existing_subgraphs()),
                            false);
  }

  const Plan& plan_;
  const RunContext& context_;
  Host& host_;
  log::Logger& logger_;
  std::string logger_name_;
  Outcome outcome_;
  std::deque<std::string> last_lines_;
  Clock::time_point last_dot_ = Clock::now();
};

}  // namespace

Outcome run_plan(const Plan& plan, const RunContext& context, Host& host, log::Logger& logger) {
  return PlanRun(plan, context, host, logger).run();
}

}  // namespace ncc::driver
