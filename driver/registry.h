// The job registry and the job order, read from YAML: the built-in files, then the user's --pipeline-file
// over them. Data only: what a template means is decided in plan.cc. Source: spec/driver.md §2, §3.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "pipelines/pipelines.h"

namespace ncc::driver {

/// A run of arguments that is added when the condition holds; "" = always.
struct ArgvPart {
  std::string condition;
  std::vector<std::string> args;
};

/// Process: a tool is run. InProcess: the driver does it itself (`action` says what).
enum class JobKind : uint8_t { Process, InProcess };
/// What becomes of a tool's stderr: Relay shows it to the user as it comes, Capture keeps it in the log until
/// the job fails, Merge treats it like stdout.
enum class StderrPolicy : uint8_t { Relay, Capture, Merge };

/// How a job is run; the meaning of each key is told in pipelines/jobs.yaml.
struct JobTemplate {
  std::string name;
  JobKind kind = JobKind::Process;
  std::string tool;
  std::string action;
  std::vector<std::string> run_if;
  std::vector<ArgvPart> argv;
  std::vector<std::string> reads;
  std::vector<std::string> may_read;
  std::vector<std::string> writes;
  std::vector<std::string> may_write;
  std::vector<std::string> may_be_empty;
  std::map<std::string, std::string> state;
  bool for_each_subgraph = false;
  StderrPolicy stderr_policy = StderrPolicy::Relay;
  bool propagate_exit = true;
  double timeout_s = 0;
  int64_t memory_limit_bytes = 0;
  std::string pass_metrics;
  bool cacheable = false;
};

struct CollectorEntry {
  std::string job;
  std::vector<std::string> when;
  std::vector<std::string> unless;
};

struct Registry {
  std::map<std::string, JobTemplate> jobs;
  std::vector<CollectorEntry> entries;  // the three collectors, concatenated
  std::vector<pipelines::File>
      sources;  // later files come first: the first with a pass list for a job decides

  std::vector<std::string> job_names() const;
};

/// Reads the files in order; a later one replaces jobs and collectors of the same name. EDRV005 names the
/// file, the line and what is wrong there: unknown keys, jobs, conditions, values of the wrong kind,
/// malformed YAML.
Result<Registry> load_registry(const std::vector<pipelines::File>& files);

}  // namespace ncc::driver
