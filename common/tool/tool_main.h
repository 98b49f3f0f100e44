// What every tool shares: options, --help, logging, exit codes, the last catch.
// A tool is a function `Status run(const CommandLine&, ToolContext&)`; main() only hands it to tool_main.
#pragma once
#include <functional>
#include <string>

#include "common/diag/status.h"
#include "common/log/log.h"

namespace CLI {
class App;
}

namespace ncc {

struct ToolInfo {
  std::string name;      // "walrus_driver"
  std::string summary;   // "schedules, allocates and encodes BIR"
  std::string examples;  // printed at the end of --help
};

/// The tool's log, as --verbose, --logfile and --logfile-verbose say; users and warnings only until tool_main
/// has read them. For main() and what it hands down: libraries do not log.
log::Logger& tool_logger();

/// Parses the command line with CLI11 (the tool adds its options in `declare`), runs `run`, prints a failed
/// Status to stderr and returns the exit status: 0, 1 (user error, usage), 2 (mismatch), 70 (internal), 137
/// (out of memory).
int tool_main(const ToolInfo& tool, int argc, char** argv, const std::function<void(CLI::App&)>& declare,
              const std::function<Status()>& run);

}  // namespace ncc
