#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "common/log/log.h"
#include "common/tool/report.h"
#include "driver/cache/compile_cache.h"
#include "driver/crash_bundle.h"
#include "driver/earlier_states.h"
#include "driver/host.h"
#include "driver/plan.h"
#include "driver/progress.h"
#include "driver/records.h"
#include "driver/runner.h"
#include "driver/tool_path.h"
#include "driver/version.h"
#include "driver/work_dir.h"

namespace ncc::driver {
namespace {

constexpr const char* kRoot = "root";
constexpr const char* kLog = "log-neuron-cc.txt";
constexpr const char* kMetrics = "global_metric_store.json";

/// Parses the command line, over the options of --state when it is given. A model on the command line
/// replaces the state's.
Result<Options> resolve_options(const std::vector<std::string>& args, const std::string& launch_dir) {
  NCC_ASSIGN(Options options, parse_options(args, launch_dir));
  if (!options.used(Opt::state)) return options;
  NCC_ASSIGN(const EarlierStates earlier, read_earlier_states(options.list(Opt::state), launch_dir));
  const std::vector<std::string>& stored = earlier.argv;
  const auto models = std::find(stored.begin(), stored.end(), "--");
  std::vector<std::string> argv(stored.begin(), models);
  argv.insert(argv.end(), args.begin(), args.end());
  if (options.models().empty()) argv.insert(argv.end(), models, stored.end());
  NCC_ASSIGN(options, parse_options(argv, launch_dir));
  options.set_subgraphs(earlier.subgraphs);
  return options;
}

/// A folder stands for the model file that its metadata.json names ("model_files").
Status resolve_model_folder(Options& options) {
  std::error_code failure;
  if (options.models().size() != 1 || !std::filesystem::is_directory(options.models().front(), failure))
    return Status::ok();
  const std::string folder = options.models().front();
  const std::string path = folder + "/metadata.json";
  NCC_ASSIGN(const std::string text, read_file(path));
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto bad = [&](const char* what) {
    return error(Code::EFIL003, path, std::string("a model's metadata"), std::string(what));
  };
  if (!json.is_object() || !json.contains("model_files") || !json["model_files"].is_array())
    return bad("it has no list 'model_files'");
  const nlohmann::json& files = json["model_files"];
  if (files.size() != 1 || !files[0].is_string()) return bad("'model_files' does not name one file");
  options.set_models({(std::filesystem::path(folder) / files[0].get<std::string>()).string()});
  return Status::ok();
}

Result<Registry> resolve_registry(const Options& options) {
  std::vector<pipelines::File> files = pipelines::built_in_files();
  if (options.used(Opt::pipeline_file)) {
    const std::string path = options.text(Opt::pipeline_file);
    NCC_ASSIGN(std::string text, read_file(path));
    files.push_back({path, std::move(text)});
  }
  return load_registry(files);
}

/// What can be known to fail before any work is done.
Status check_before_start(const Plan& plan, Host& host) {
  const int64_t size = host.file_size(plan.model);
  if (size < 0) return error(Code::EFIL001, plan.model, std::string("no such file"));
  if (size == 0) return error(Code::EFIL003, plan.model, std::string("a model"), std::string("it is empty"));
  for (const Job& job : plan.jobs)
    if (job.kind == JobKind::Process && job.executable.empty() && job.skip_reason.empty() &&
        job.run_conditions.empty())
      return error(Code::EDRV001, job.tool, job.name, searched_folders(), job.tool);
  if (plan.output == plan.model) return error(Code::EARG001, std::string("--output would replace the model"));
  return plan.output.empty() ? Status::ok() : check_publishable(plan.output);
}

std::unique_ptr<cache::CompileCache> make_cache(const Options& options, const Plan& plan) {
  return std::make_unique<cache::CompileCache>(plan, options.text(Opt::cache_dir),
                                               options.text(Opt::cache_mode) == "read-only");
}

/// A run from planned to published. The work folder's log and metrics are the authoritative ones; copies go
/// beside the user, and that a copy cannot be made is worth a note only.
class Compile {
 public:
  Compile(const Options& options, const Plan& plan, Host& host, log::Logger& logger, log::Level file_level)
      : options_(options), plan_(plan), host_(host), logger_(logger), file_level_(file_level) {
    if (options.used(Opt::cache_dir)) cache_ = make_cache(options, plan);
  }

  int run() {
    Result<WorkDir> opened = WorkDir::open(plan_.work_dir, options_.launch_dir());
    if (!opened.is_ok()) return report_failure(opened.status());
    WorkDir& work_dir = opened.value();
    const std::string log_path = work_dir.path() + "/" + kLog;
    if (const Status status = logger_.open_file(log_path, file_level_); !status.is_ok())
      return report_failure(status);
    announce(work_dir);

    Outcome outcome = run_or_restore(work_dir);
    if (!outcome.failure.failed() && !plan_.output.empty()) publish_result(work_dir, outcome);
    if (options_.used(Opt::crash_bundle) && !outcome.failed_job.empty()) bundle(work_dir, outcome);
    finish(work_dir, outcome);
    return outcome.failure.exit_status;
  }

 private:
  Outcome run_or_restore(const WorkDir& work_dir) {
    const auto start = std::chrono::steady_clock::now();
    if (cache_ != nullptr && cache_->restore_whole(work_dir.path())) {
      logger_.write(log::Level::Info, kRoot, "The whole result is out of the cache");
      Outcome outcome;
      for (const Job& job : plan_.jobs) {
        JobRecord record;
        record.status = job.skip_reason.empty() ? JobStatus::Cached : JobStatus::NotStarted;
        record.reason = job.skip_reason;
        outcome.records.push_back(std::move(record));
      }
      outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      outcome.failure = explain_status(
          host_.write_file(work_dir.path() + "/" + kMetrics, metrics_text(plan_, outcome), false));
      return outcome;
    }
    TerminalProgress progress;
    const RunContext context{work_dir.path(),    options_.to_argv(),
                             searched_folders(), options_,
                             cache_.get(),       options_.flag(Opt::progress) ? &progress : nullptr};
    Outcome outcome = run_plan(plan_, context, host_, logger_);
    if (cache_ != nullptr && !outcome.failure.failed()) cache_->store_whole(work_dir.path());
    return outcome;
  }

  void bundle(const WorkDir& work_dir, const Outcome& outcome) {
    logger_.flush_file();
    const std::string path = options_.text(Opt::crash_bundle);
    const Status status = write_crash_bundle(
        path, plan_, outcome.failed_job, work_dir.path(),
        "neuron-driver compile " + process::shell_join(options_.to_argv()), version_text());
    logger_.write_raw_error(kRoot,
                            status.is_ok() ? "crash bundle: " + path : status.diagnostic().to_string());
  }

  void announce(const WorkDir& work_dir) {
    logger_.write(log::Level::Info, kRoot,
                  "Command: neuron-driver compile " + process::shell_join(options_.to_argv()));
    logger_.write(log::Level::Info, kRoot, "Intermediate files: " + work_dir.path());
    for (const std::string& note : plan_.notes) logger_.write(log::Level::Info, kRoot, note);
    for (const std::string& warning : plan_.warnings) logger_.write_raw_error(kRoot, "[WARNING] " + warning);
  }

  void publish_result(const WorkDir& work_dir, Outcome& outcome) {
    const std::string neff = work_dir.path() + "/" + plan_.neff;
    const int64_t size = host_.file_size(neff);
    outcome.failure = explain_status(publish(neff, plan_.output, Durability::Durable));
    if (outcome.failure.failed()) return logger_.write_raw_error(kRoot, outcome.failure.headline);
    const std::string wrapped = work_dir.path() + "/wrapped_neff.hlo";
    const std::string wrapped_copy = options_.launch_dir() + "/wrapped_neff.hlo";
    if (host_.file_size(wrapped) > 0)
      copy_beside_user(wrapped, wrapped_copy);
    else if (options_.flag(Opt::neff_wrapper))
      host_.remove_file(wrapped_copy);  // frameworks look whether it is there
    logger_.write(log::Level::User, kRoot,
                  fmt::format("Wrote {} ({}, {:.2f} s)", plan_.output, format_bytes(size), outcome.wall_s));
  }

  void finish(WorkDir& work_dir, const Outcome& outcome) {
    const bool interrupted = outcome.failure.exit_status >= 128;
    const bool keep =
        plan_.keep_work_dir || !work_dir.is_fresh() || (outcome.failure.failed() && !interrupted);
    if (keep && !outcome.failure.failed() && work_dir.is_fresh())
      logger_.write(log::Level::User, kRoot, "Artifacts: " + work_dir.path());
    if (options_.flag(Opt::time_report)) std::fputs(time_report(plan_, outcome).c_str(), stdout);
    copy_beside_user(work_dir.path() + "/" + kMetrics, options_.launch_dir() + "/" + kMetrics);
    logger_.write(log::Level::Info, kRoot, fmt::format("Exit status {}", outcome.failure.exit_status));
    logger_.close_file();
    copy_beside_user(work_dir.path() + "/" + kLog, options_.text(Opt::logfile));
    if (!keep) work_dir.remove();
    logger_.end_dots();
    if (logger_.shows_dots())
      std::puts(outcome.failure.failed() ? "Compiler status ERROR" : "Compiler status PASS");
  }

  void copy_beside_user(const std::string& from, const std::string& to) {
    if (const Status status = publish(from, to, Durability::Convenience); !status.is_ok())
      logger_.write(log::Level::Info, kRoot, status.diagnostic().to_string());
  }

  const Options& options_;
  const Plan& plan_;
  Host& host_;
  log::Logger& logger_;
  log::Level file_level_;
  std::unique_ptr<cache::CompileCache> cache_;
};

Result<log::Verbosity> verbosity(const Options& options, Opt id) {
  const std::optional<log::Verbosity> level = log::parse_verbosity(options.text(id));
  if (!level)
    return error(Code::EARG001, fmt::format("option '{}' has value '{}', expected a level name or a number",
                                            row(id).spelling, options.text(id)));
  return *level;
}

/// The plan of a command line and the options it came from.
struct Planned {
  Options options;
  Plan plan;
};

Result<Planned> plan_command(const std::vector<std::string>& args, const std::string& launch_dir) {
  NCC_ASSIGN(Options options, resolve_options(args, launch_dir));
  NCC_TRY(resolve_model_folder(options));
  NCC_ASSIGN(const Registry registry, resolve_registry(options));
  NCC_ASSIGN(Plan plan, plan_compile(options, registry, find_tool));
  return Planned{std::move(options), std::move(plan)};
}

}  // namespace

int run_compile(const std::vector<std::string>& args, const std::string& launch_dir) {
  const Result<Planned> planned = plan_command(args, launch_dir);
  if (!planned.is_ok()) return report_failure(planned.status());
  const Options& options = planned->options;
  const Plan& plan = planned->plan;
  const Result<log::Verbosity> console = verbosity(options, Opt::verbose);
  if (!console.is_ok()) return report_failure(console.status());
  const Result<log::Verbosity> file = verbosity(options, Opt::logfile_verbose);
  if (!file.is_ok()) return report_failure(file.status());

  // From here on the plan is final: what follows only executes it.
  process::SignalGate gate;
  PosixHost host(gate);
  if (options.flag(Opt::dry_run)) {
    std::fputs(print_plan(plan).c_str(), stdout);
    return 0;
  }
  if (const Status ready = check_before_start(plan, host); !ready.is_ok()) return report_failure(ready);
  log::Logger logger(console.value());
  return Compile(options, plan, host, logger, file->level).run();
}

int run_cache_explain(const std::vector<std::string>& args, const std::string& launch_dir) {
  const Result<Planned> planned = plan_command(args, launch_dir);
  if (!planned.is_ok()) return report_failure(planned.status());
  if (!planned->options.used(Opt::cache_dir))
    return report_failure(error(Code::EARG001, std::string("cache explain needs --cache-dir")));
  std::fputs(make_cache(planned->options, planned->plan)->explain().c_str(), stdout);
  return 0;
}

}  // namespace ncc::driver
