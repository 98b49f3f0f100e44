// From a command line to a plan: the jobs as values, in order, with their argv, nothing touched.
//
// plan_compile is a pure function of options and registry (tool lookup aside, which is a callback), so that
// plans are tested as text. The runner executes a plan and knows no option table.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/registry.h"

namespace ncc::driver {

struct Job {
  std::string name;               // "WalrusDriver"
  std::string tool;               // "walrus_driver"
  std::string executable;         // path; empty when the tool was not found
  std::vector<std::string> args;  // without argv[0]; paths are relative to the work folder or absolute
  std::vector<std::string> reads;
  std::vector<std::string> writes;
  std::vector<std::string> run_conditions;  // of time Run; all must hold
  std::string skip_reason;                  // not started for this reason; empty = started
  std::string shown_tool = {};              // for people: the tool's name, or the path that --tool gives
  std::vector<std::string> may_read = {};
  std::vector<std::string> may_write = {};  // results that a job may also leave out
  std::vector<std::string> may_be_empty = {};
  std::map<std::string, std::string> state = {};  // what it adds to state.json
  JobKind kind = JobKind::Process;
  std::string action = {};         // InProcess: what the driver does
  bool for_each_subgraph = false;  // runs once per sgNN; "{sg}" in args and paths is its name
  StderrPolicy stderr_policy = StderrPolicy::Relay;
  bool propagate_exit = true;
  double timeout_s = 0;            // 0 = none
  int64_t memory_limit_bytes = 0;  // 0 = none
  std::string pass_metrics = {};   // a JSON file with the wall time of its passes
  bool cacheable = false;

  bool operator==(const Job&) const = default;
};

/// The job with "{sg}" filled in everywhere.
Job for_subgraph(const Job& job, const std::string& subgraph);

/// A file that is copied into the work folder before the first job starts.
struct Import {
  std::string from;  // absolute
  std::string to;    // relative to the work folder
  bool required;     // false: left out when it does not exist

  bool operator==(const Import&) const = default;
};

struct Plan {
  std::vector<Import> imports;
  std::vector<Job> jobs;
  std::string model;                   // absolute
  std::string target;                  // family: "trn1", "trn2"
  std::string penguin = "penguin.pb";  // in the work folder: what Frontend reads
  std::string neff;                    // in the work folder: "model.neff"
  std::string output;  // absolute, where `neff` is published; empty when the plan stops before a NEFF exists
  std::string work_dir;  // absolute; empty = a fresh one in the launch folder
  std::vector<std::string>
      subgraphs;  // jobs for each subgraph run for these alone; empty = for all there are
  bool keep_work_dir = false;
  bool is_verified = false;           // some stage is compared with goldens
  std::vector<std::string> warnings;  // for the user, once each
  std::vector<std::string> notes;     // for the log
};

/// Where a tool is looked up. `overridden` is the path that --tool gives for the job or tool, or "".
using FindTool = std::function<std::string(const std::string& tool)>;

/// EARG001 for a model, target or lnc that does not fit; EDRV010 for unknown jobs. A tool that is not found
/// leaves `executable` empty: a dry run does not need it.
Result<Plan> plan_compile(const Options& options, const Registry& registry, const FindTool& find_tool);

/// The text of --dry-run.
std::string print_plan(const Plan& plan);

}  // namespace ncc::driver
