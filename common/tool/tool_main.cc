#include "common/tool/tool_main.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "common/tool/report.h"

namespace ncc {
namespace {

constexpr int kExitUsage = 1;
constexpr int kExitInternal = 70;
constexpr int kExitOutOfMemory = 137;  // maps like a SIGKILL from the kernel's out-of-memory killer

}  // namespace

int tool_main(const ToolInfo& tool, int argc, char** argv, const std::function<void(CLI::App&)>& declare,
              const std::function<Status()>& run) {
  CLI::App app{tool.summary, tool.name};
  app.footer(tool.examples);
  try {
    declare(app);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& bad) {
    if (bad.get_exit_code() == 0) return app.exit(bad);
    report_failure(error(Code::EARG001, std::string(bad.what())));
    return kExitUsage;
  }
  try {
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
