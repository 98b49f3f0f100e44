#include "common/tool/tool_main.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "common/diag/suggest.h"
#include "common/tool/report.h"

namespace ncc {
namespace {

constexpr int kExitInternal = 70;
constexpr int kExitOutOfMemory = 137;  // maps like a SIGKILL from the kernel's out-of-memory killer

struct LogOptions {
  std::string console = "user", file, file_level = "info";
};

void declare_logging(CLI::App& app, LogOptions& options) {
  const std::string group = "Logging";
  app.add_option("--verbose", options.console,
                 "console level: a name (debug, info, warning, error, user) or a number")
      ->group(group);
  app.add_option("--logfile", options.file, "also write a log here")->group(group);
  app.add_option("--logfile-verbose", options.file_level, "level of the log file")->group(group);
}

Status open_log(const LogOptions& options) {
  const auto parse = [](const std::string& text) -> Result<log::Verbosity> {
    const std::optional<log::Verbosity> level = log::parse_verbosity(text);
    if (level) return *level;
    return error(Code::EARG001, fmt::format("'{}' is neither a log level nor a number", text));
  };
  NCC_ASSIGN(const log::Verbosity console, parse(options.console));
  NCC_ASSIGN(const log::Verbosity file, parse(options.file_level));
  tool_logger().set_console(console);
  return options.file.empty() ? Status::ok() : tool_logger().open_file(options.file, file.level);
}

/// EARG002 for the first option that the tool does not have, whatever else is missing; else EARG001.
Status usage_error(const CLI::App& app, const CLI::ParseError& bad) {
  const std::vector<std::string> left = app.remaining();
  const auto unknown =
      std::find_if(left.begin(), left.end(), [](const std::string& word) { return word.starts_with('-'); });
  if (unknown == left.end()) return error(Code::EARG001, std::string(bad.what()));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string word = unknown->substr(0, unknown->find('='));
  return error(Code::EARG002, word, closest_name(word, known));
}

}  // namespace

log::Logger& tool_logger() {
  static log::Logger logger;
  return logger;
}

int tool_main(const ToolInfo& tool, int argc, char** argv, const std::function<void(CLI::App&)>& declare,
              const std::function<Status()>& run) {
  CLI::App app{tool.summary, tool.name};
  app.footer(tool.examples);
  LogOptions logging;
  try {
    declare(app);
    declare_logging(app, logging);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& bad) {
    if (bad.get_exit_code() == 0) return app.exit(bad);
    return report_failure(usage_error(app, bad));
  }
  try {
    if (const Status opened = open_log(logging); !opened.is_ok()) return report_failure(opened);
    const Status status = run();
    if (std::fflush(stdout) != 0 && status.is_ok())
      return report_failure(error(Code::EFIL002, "standard output", "write failed"));
    return status.is_ok() ? 0 : report_failure(status);
  } catch (const std::bad_alloc&) {
    std::fputs("[ERROR] out of memory\n", stderr);
    return kExitOutOfMemory;
  } catch (const std::exception& failure) {
    return report_failure(error(Code::EINT901, tool.name, std::string(failure.what())));
  }
  return kExitInternal;
}

}  // namespace ncc
