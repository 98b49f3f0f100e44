// Executes a plan: one child at a time, in order, until the first failure.
//
// Leaves in the work folder: log/<Job>.log, state.json after every job (atomically), global_metric_store.json
// at the end, replay_<Job>.sh for every job that was started. Knows nothing of options or tools beyond what a
// Job says.
#pragma once
#include <string>
#include <vector>

#include "common/log/log.h"
#include "driver/failure.h"
#include "driver/host.h"
#include "driver/plan.h"

namespace ncc::driver {

enum class JobStatus : uint8_t { Pending, Done, Cached, NotStarted, Ignored, Failed };
std::string_view status_name(JobStatus status);

struct PassTime {
  std::string name;
  double wall_s;
};

struct JobRecord {
  JobStatus status = JobStatus::Pending;
  std::string reason;  // NotStarted, Ignored: why
  process::Exit exit;  // of several subgraphs: times summed, peaks the largest
  std::vector<PassTime> passes;
};

struct Outcome {
  Failure failure;                 // failed() says whether the compile failed
  std::string failed_job;          // empty when the failure is not a job's
  std::vector<JobRecord> records;  // parallel to plan.jobs
  double wall_s = 0;
};

/// Results of earlier compiles, by what they depend on. Never fails a compile: what it cannot do it leaves.
class JobCache {
 public:
  virtual ~JobCache() = default;
  /// Puts the job's results into the work folder; false when it has none.
  virtual bool restore(const Job& job, const std::string& work_dir) = 0;
  virtual void store(const Job& job, const std::string& work_dir) = 0;
};

/// Who shows the state of a running compile; see progress.h.
class ProgressView {
 public:
  virtual ~ProgressView() = default;
  virtual void job(const std::string& name, size_t index, size_t count) = 0;
  virtual void pass(std::string_view name) = 0;
  virtual void tick() = 0;
  virtual void clear() = 0;  // before anything else is printed
};

/// What the runner must know beside the plan.
struct RunContext {
  std::string work_dir;                 // absolute, exists
  std::vector<std::string> state_argv;  // the options, for state.json
  std::string tool_folders;             // where tools were looked up, for messages
  const Options& options;               // for conditions of time Run
  JobCache* cache = nullptr;
  ProgressView* progress = nullptr;
};

/// Runs the jobs. Everything that goes wrong is in the Outcome; diagnostics were printed through the logger.
Outcome run_plan(const Plan& plan, const RunContext& context, Host& host, log::Logger& logger);

}  // namespace ncc::driver
