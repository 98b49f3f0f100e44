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

enum class JobStatus : uint8_t { Pending, Done, NotStarted, Failed };

struct JobRecord {
  JobStatus status = JobStatus::Pending;
  std::string reason;  // NotStarted: why
  process::Exit exit;
};

struct Outcome {
  Failure failure;                 // failed() says whether the compile failed
  std::string failed_job;          // empty when the failure is not a job's
  std::vector<JobRecord> records;  // parallel to plan.jobs
  double wall_s = 0;
};

/// What the runner must know beside the plan.
struct RunContext {
  std::string work_dir;                 // absolute, exists
  std::vector<std::string> state_argv;  // the options, for state.json
  std::string tool_folders;             // where tools were looked up, for messages
  const Options& options;               // for conditions of time Run
};

/// Runs the jobs. Everything that goes wrong is in the Outcome; diagnostics were printed through the logger.
Outcome run_plan(const Plan& plan, const RunContext& context, Host& host, log::Logger& logger);

}  // namespace ncc::driver
