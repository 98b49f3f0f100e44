#include "driver/failure.h"

#include <array>
#include <csignal>

namespace ncc::driver {
namespace {

constexpr int kUserError = 1;
constexpr int kMismatch = 2;
constexpr int kInternal = 70;
constexpr int kSignalBase = 128;  // a shell's, and a tool's own, way of saying "died of signal n"

struct DeathCode {
  int signal;
  Code code;
};
// The set is closed: other signals are EDRV007.
constexpr std::array<DeathCode, 3> kDeathCodes = {
    {{SIGABRT, Code::F134}, {SIGKILL, Code::F137}, {SIGSEGV, Code::F139}}};

std::string memory_of(const process::Exit& exit) {
  if (exit.machine_peak_bytes == 0) return format_bytes(exit.peak_rss_bytes);
  return fmt::format("{} of the job, {} in use on the machine", format_bytes(exit.peak_rss_bytes),
                     format_bytes(exit.machine_peak_bytes));
}

Failure died_of(const Job& job, int signal, const process::Exit& exit) {
  for (const DeathCode& row : kDeathCodes) {
    if (row.signal != signal) continue;
    const Diagnostic what = error(row.code, job.name, memory_of(exit)).diagnostic();
    const std::string code(info(row.code).name);
    return {kInternal, code, fmt::format("[{}] {} - {}", code, what.cause, what.advice)};
  }
  return explain_status(error(Code::EDRV007, job.name, process::signal_name(signal)));
}

Failure exited_with(const Job& job, const process::Exit& exit, bool spoke) {
  const int status = exit.value;
  if (status == kSignalBase + SIGABRT || status == kSignalBase + SIGKILL || status == kSignalBase + SIGSEGV)
    return died_of(job, status - kSignalBase, exit);
  switch (status) {
    case 0:
      return {};
    case kUserError:
      if (spoke) return {kUserError, "", ""};
      return explain_status(error(Code::EDRV013, job.name, status));
    case kMismatch:
      if (spoke) return {kMismatch, "", ""};
      return explain_status(error(Code::EDRV014, job.name));
    case kInternal:
      if (spoke) return {kInternal, "", ""};
      [[fallthrough]];
    default:
      return explain_status(error(Code::EDRV006, job.name, status));
  }
}

}  // namespace

Failure explain_status(const Status& status) {
  if (status.is_ok()) return {};
  const Diagnostic& what = status.diagnostic();
  return {what.exit_status(), std::string(info(what.code).name), what.to_string()};
}

Failure explain_exit(const Job& job, const process::Exit& exit, bool spoke) {
  switch (exit.kind) {
    case process::ExitKind::Exited:
      return exited_with(job, exit, spoke);
    case process::ExitKind::Signaled:
      return died_of(job, exit.value, exit);
    case process::ExitKind::TimedOut:
      return explain_status(error(Code::EDRV008, job.name, fmt::format("{:.3g}", exit.wall_s)));
    case process::ExitKind::Interrupted: {
      Failure failure = explain_status(error(Code::EDRV015, process::signal_name(exit.value)));
      failure.exit_status = kSignalBase + exit.value;
      return failure;
    }
    case process::ExitKind::NotStarted:
      return explain_status(error(Code::EDRV002, job.executable, job.name, exit.why));
  }
  return explain_status(error(Code::EDRV006, job.name, exit.value));
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string replay_command(const Job& job, const std::string& work_dir) {
  std::vector<std::string> words = {job.executable};
  words.insert(words.end(), job.args.begin(), job.args.end());
  return fmt::format("(cd {} && {})", process::shell_quote(work_dir), process::shell_join(words));
}

std::string replay_script(const Job& job) {
  std::vector<std::string> words = {job.executable};
  words.insert(words.end(), job.args.begin(), job.args.end());
  return fmt::format(
      "#!/bin/sh\n# Runs job {} again on the files of this folder.\ncd \"$(dirname \"$0\")\" || exit 1\nexec "
      "{}\n",
      job.name, process::shell_join(words));
}

}  // namespace ncc::driver
