// hlo-check: runs StableHLO test modules and corpus cases at one level and compares with their expected
// values.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "common/files/files.h"
#include "common/tool/tool_main.h"
#include "tools/hlo-check/runner.h"

namespace {

using namespace ncc;
namespace fs = std::filesystem;

std::string case_name(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() ? normal.filename() : normal.parent_path().filename()).string();
}

Status check_cases(const std::vector<std::string>& cases, const check::Settings& settings,
                   check::Totals& totals) {
  std::string tsv = "case\tlevel\tstatus\tdiagnostic\tmax_abs\tmax_rel\tcompile_s\tsim_s\tsim_ns\n";
  totals = check::run_cases(
      check::expand_cases(cases), settings, [&](const std::string& path, const check::Outcome& one) {
        fmt::print("{:<11} {}{}{}\n", name(one.verdict), case_name(path), one.diagnostic.empty() ? "" : ": ",
                   one.diagnostic);
        std::fflush(stdout);
        tsv += fmt::format("{}\t{}\t{}\t{}\t{:g}\t{:g}\t{:.3f}\t{:.3f}\t{:.0f}\n", case_name(path),
                           name(settings.level), name(one.verdict), one.diagnostic, one.max_abs, one.max_rel,
                           one.compile_s, one.sim_s, one.sim_ns);
      });
  if (!settings.tsv.empty()) NCC_TRY(write_file(settings.tsv, tsv));
  fmt::print("{} passed, {} failed, {} skipped\n", totals.passed, totals.failed, totals.skipped);
  return Status::ok();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases;
  std::string level = "golden";
  check::Settings settings;
  check::Totals totals;
  const int status = tool_main(
      {"hlo-check", "runs StableHLO test modules and corpus cases and compares with their expected values",
       "Example: hlo-check tests/data/*.mlir --level sim --jobs 4 --tsv results.tsv"},
      argc, argv,
      [&](CLI::App& app) {
        app.add_option("CASE", cases,
                       "StableHLO test modules (.mlir), corpus case folders, or folders of either")
            ->required();
        app.add_option("--level", level, "what to execute: golden, penguin, bir or sim (default golden)");
        app.add_option("--form", settings.form,
                       "form of a corpus model: pb, txt, mlir or all (default: the first that is there)")
            ->check(CLI::IsMember({"pb", "txt", "mlir", "all"}));
        app.add_option("--target", settings.target, "machine generation to compile for (default trn2)");
        app.add_option("-O,--optlevel", settings.optlevel, "optimisation level passed to the compiler");
        app.add_option("--jobs", settings.jobs, "cases run at the same time (default 1)")
            ->check(CLI::Range(1, 1024));
        app.add_option("--tsv", settings.tsv, "write one row per case to this file");
        app.add_option("--timeout", settings.timeout_s, "seconds per case (default: none)")
            ->check(CLI::NonNegativeNumber);
        app.add_option("--driver", settings.driver,
                       "neuron-driver to compile with (default: beside this tool)");
        app.add_flag("--keep", settings.keep, "keep the temporary folder of each case and name it");
      },
      [&]() -> Status {
        const auto parsed = check::level_from_name(level);
        if (!parsed)
          return error(Code::EARG001,
                       fmt::format("level '{}' is not one of golden, penguin, bir, sim", level));
        settings.level = *parsed;
        if (settings.driver.empty())
          settings.driver = (fs::read_symlink("/proc/self/exe").parent_path() / "neuron-driver").string();
        return check_cases(cases, settings, totals);
      });
  constexpr int kExitMismatch = 2;
  return status != 0 ? status : totals.failed > 0 ? kExitMismatch : 0;
}
