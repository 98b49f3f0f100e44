// Runs cases, each in a forked worker process with a folder of its own, several at a time.
#pragma once
#include <functional>

#include "tools/hlo-check/case.h"

namespace ncc::check {

/// What happened to the cases, as the last line says it.
struct Totals {
  int64_t passed = 0, failed = 0, skipped = 0;
};

/// Paths as given; a folder that is no corpus case stands for the test modules and corpus cases in it, by
/// name.
std::vector<std::string> expand_cases(const std::vector<std::string>& paths);

/// Runs every case and calls `report` in the order of the list. A worker that exceeds the timeout is killed
/// (verdict timeout), one that dies is verdict crash. Call before the process has threads.
Totals run_cases(const std::vector<std::string>& cases, const Settings& settings,
                 const std::function<void(const std::string& case_name, const Outcome&)>& report);

/// One case, in this process.
Outcome run_case(const std::string& path, const Settings& settings, const std::string& dir);

}  // namespace ncc::check
