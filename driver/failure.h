// What a job's end means to the user: exit status, code, the lines to print. One function interprets an Exit.
//
//   0 ok | 1 user error | 2 comparison mismatch | 70 everything else; 128+signal when the user interrupted.
// Source: spec/driver.md §5, DESIGN §10.
#pragma once
#include <deque>
#include <string>

#include "common/process/process.h"
#include "driver/plan.h"

namespace ncc::driver {

struct Failure {
  int exit_status = 0;   // 0 = the job ended well
  std::string code;      // "F137", "EDRV003"; empty when the tool's own diagnostic says it all
  std::string headline;  // "[F137] job ... - ..." or "[ERROR] [NCC_...] ..."; empty when the tool has said it
  bool failed() const { return exit_status != 0; }
};

/// `spoke` = the tool printed something on stderr, which the user has seen already.
Failure explain_exit(const Job& job, const process::Exit& exit, bool spoke);

/// The failure that a diagnostic of the driver itself stands for.
Failure explain_status(const Status& status);

/// "1.25 GiB".
std::string format_bytes(int64_t bytes);

/// The command that runs the job again by hand: "(cd DIR && tool args...)".
std::string replay_command(const Job& job, const std::string& work_dir);

/// The text of replay_<Job>.sh: works from wherever the work folder has been moved to.
std::string replay_script(const Job& job);

}  // namespace ncc::driver
