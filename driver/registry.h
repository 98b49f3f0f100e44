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

struct JobTemplate {
  std::string name;
  std::string tool;
  std::vector<std::string> run_if;
  std::vector<ArgvPart> argv;
  std::vector<std::string> reads;
  std::vector<std::string> writes;
  std::vector<std::string> may_write;
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
/// file and what is wrong: unknown keys, jobs, conditions, malformed YAML.
Result<Registry> load_registry(const std::vector<pipelines::File>& files);

}  // namespace ncc::driver
