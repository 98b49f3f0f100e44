// The parent forks a worker per case, reads one JSON object from its pipe, and waits. A fork costs a
// millisecond and buys isolation: a crash, a hang or a leak of one case touches no other.
#include "tools/hlo-check/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/parallel/parallel.h"
#include "common/process/process.h"
#include "tools/hlo-check/corpus_case.h"
#include "tools/hlo-check/levels.h"
#include "tools/hlo-check/stablehlo_case.h"
#include "tools/hlo-check/unchecked.h"

namespace ncc::check {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string to_json(const Outcome& outcome) {
  const auto finite = [](double x) { return std::isfinite(x) ? x : 1e308; };
  return nlohmann::json{{"verdict", static_cast<int>(outcome.verdict)},
                        {"diagnostic", outcome.diagnostic},
                        {"max_abs", finite(outcome.max_abs)},
                        {"max_rel", finite(outcome.max_rel)},
                        {"compile_s", outcome.compile_s},
                        {"sim_s", outcome.sim_s},
                        {"sim_ns", outcome.sim_ns}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Outcome> from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Outcome outcome;
  outcome.verdict = static_cast<Verdict>(json.value("verdict", 0));
  outcome.diagnostic = json.value("diagnostic", "");
  outcome.max_abs = json.value("max_abs", 0.0);
  outcome.max_rel = json.value("max_rel", 0.0);
  outcome.compile_s = json.value("compile_s", 0.0);
  outcome.sim_s = json.value("sim_s", 0.0);
  outcome.sim_ns = json.value("sim_ns", 0.0);
  return outcome;
}

struct Worker {
  size_t index = 0;
  pid_t pid = -1;
  int pipe = -1;
  std::string dir, text;
  Clock::time_point deadline;
  bool timed_out = false;
};

[[noreturn]] void work(const std::string& path, const Settings& settings, const std::string& dir, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (settings.jobs > 1) set_thread_count(1);  // cases run in parallel already
  Outcome outcome;
  try {
    outcome = run_case(path, settings, dir);
  } catch (const std::bad_alloc&) {
    outcome.verdict = Verdict::Error;
    outcome.diagnostic = "out of memory";
  } catch (const std::exception& failure) {
    outcome.verdict = Verdict::Error;
    outcome.diagnostic = fmt::format("internal error: {}", failure.what());
  }
  const std::string text = to_json(outcome);
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(pipe, text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  ::_exit(0);
}

class Scheduler {
 public:
  Scheduler(const std::vector<std::string>& cases, const Settings& settings)
      : cases_(cases), settings_(settings) {}

  void run(const std::function<void(size_t, const Outcome&)>& done) {
    size_t next = 0;
    const size_t jobs = static_cast<size_t>(std::max(1, settings_.jobs));
    while (next < cases_.size() || !workers_.empty()) {
      while (next < cases_.size() && workers_.size() < jobs) {
        if (Outcome failure; !start(next, failure)) done(next, failure);
        ++next;
      }
      wait_for_output();
      for (size_t w = 0; w < workers_.size();) {
        if (workers_[w].pipe >= 0) {
          ++w;
          continue;
        }
        done(workers_[w].index, finish(workers_[w]));
        workers_.erase(workers_.begin() + static_cast<int64_t>(w));
      }
    }
  }

 private:
  bool start(size_t index, Outcome& failure) {
    Worker worker;
    worker.index = index;
    worker.dir = (fs::temp_directory_path() / "hlo-check-XXXXXX").string();
    int ends[2];
    if (!::mkdtemp(worker.dir.data()) || ::pipe2(ends, O_CLOEXEC) != 0) {
      failure.verdict = Verdict::Error;
      failure.diagnostic = fmt::format("cannot start a worker: {}", std::strerror(errno));
      return false;
    }
    worker.pid = ::fork();
    if (worker.pid == 0) {
      ::close(ends[0]);
      work(cases_[index], settings_, worker.dir, ends[1]);
    }
    ::close(ends[1]);
    worker.pipe = ends[0];
    worker.deadline =
        Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(settings_.timeout_s * 1000));
    workers_.push_back(std::move(worker));
    return true;
  }

  // Reads what workers have written; closes the pipe of those that ended; kills those past their deadline.
  void wait_for_output() {
    std::vector<pollfd> fds;
    for (const Worker& worker : workers_) fds.push_back({worker.pipe, POLLIN, 0});
    if (fds.empty()) return;
    ::poll(fds.data(), fds.size(), settings_.timeout_s > 0 ? 100 : -1);
    for (size_t w = 0; w < workers_.size(); ++w) {
      Worker& worker = workers_[w];
      if (fds[w].revents != 0) {
        char buffer[4096];
        const ssize_t n = ::read(worker.pipe, buffer, sizeof buffer);
        if (n > 0) worker.text.append(buffer, static_cast<size_t>(n));
        if (n == 0 || (n < 0 && errno != EINTR)) {
          ::close(worker.pipe);
          worker.pipe = -1;
        }
      } else if (settings_.timeout_s > 0 && !worker.timed_out && Clock::now() > worker.deadline) {
        worker.timed_out = true;
        ::kill(worker.pid, SIGKILL);  // its own children die with it
      }
    }
  }

  Outcome finish(const Worker& worker) {
    int status = 0;
    while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    std::error_code ignored;
    if (!settings_.keep) fs::remove_all(worker.dir, ignored);
    Outcome outcome;
    if (worker.timed_out) {
      outcome.verdict = Verdict::Timeout;
      outcome.diagnostic = fmt::format("no result after {} s", settings_.timeout_s);
    } else if (const auto parsed = from_json(worker.text); parsed && WIFEXITED(status)) {
      outcome = *parsed;
      if (settings_.keep) outcome.diagnostic += " (files: " + worker.dir + ")";
    } else {
      outcome.verdict = Verdict::Crash;
      outcome.diagnostic = WIFSIGNALED(status) ? "died of " + process::signal_name(WTERMSIG(status))
                                               : std::string("ended without a result");
    }
    return outcome;
  }

  const std::vector<std::string>& cases_;
  const Settings& settings_;
  std::vector<Worker> workers_;
};

}  // namespace

namespace {

Result<std::vector<Program>> load_case(const std::string& path, const Settings& settings,
                                       const std::string& dir) {
  return fs::is_directory(path) ? load_corpus_case(path, dir, settings.form) : load_stablehlo_case(path);
}

Outcome skipped(std::string why) {
  Outcome outcome;
  outcome.verdict = Verdict::Skipped;
  outcome.diagnostic = std::move(why);
  return outcome;
}

// What is skipped is listed in docs/checks.md.
Outcome run_one(const Program& program, const Settings& settings, const std::string& dir) {
  const bool golden = settings.level == Level::Golden;
  if (program.is_grid && !golden) return skipped("process grids and probes run at level golden only");
  if (program.measure == Measure::Time && golden) return skipped("a benchmark without expected values");
  if (program.measure == Measure::ReadsBack && golden) return run_unchecked(program);
  std::error_code ignored;
  fs::create_directories(dir, ignored);
  return run_program(program, settings, dir);
}

}  // namespace

std::vector<std::string> expand_cases(const std::vector<std::string>& paths) {
  std::vector<std::string> cases;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path) || fs::exists(path + "/meta.json")) {
      cases.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
      const bool is_case =
          entry.is_directory() ? fs::exists(entry.path() / "meta.json") : entry.path().extension() == ".mlir";
      if (is_case) inside.push_back(entry.path().string());
    }
    std::sort(inside.begin(), inside.end());
    // Nothing inside: the folder itself, so that it is reported.
    if (inside.empty()) inside.push_back(path);
    cases.insert(cases.end(), inside.begin(), inside.end());
  }
  return cases;
}

// A case passes when all its modules do; modules that are skipped do not hide the others and are counted.
Outcome run_case(const std::string& path, const Settings& settings, const std::string& dir) {
  Result<std::vector<Program>> loaded = load_case(path, settings, dir);
  if (!loaded.is_ok()) return outcome_of(loaded.status());
  const std::vector<Program> programs = loaded.take();
  if (programs.empty()) return skipped("no module");
  Outcome all;
  size_t left_out = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    Outcome one = run_one(programs[i], settings, fmt::format("{}/{}", dir, i));
    if (one.verdict == Verdict::Skipped) {
      ++left_out;
      if (left_out == programs.size()) return one;
      continue;
    }
    one.max_abs = std::max(one.max_abs, all.max_abs);
    one.max_rel = std::max(one.max_rel, all.max_rel);
    one.compile_s += all.compile_s;
    one.sim_s += all.sim_s;
    one.sim_ns += all.sim_ns;
    all = std::move(one);
    if (all.verdict != Verdict::Pass) {
      all.diagnostic = programs[i].label + all.diagnostic;
      return all;
    }
  }
  if (left_out > 0) all.diagnostic = fmt::format("{} of {} modules skipped", left_out, programs.size());
  return all;
}

Totals run_cases(const std::vector<std::string>& cases, const Settings& settings,
                 const std::function<void(const std::string&, const Outcome&)>& report) {
  Totals totals;
  std::vector<std::optional<Outcome>> outcomes(cases.size());
  size_t reported = 0;
  Scheduler(cases, settings).run([&](size_t index, const Outcome& outcome) {
    outcomes[index] = outcome;
    for (; reported < cases.size() && outcomes[reported]; ++reported) {
      const Outcome& one = *outcomes[reported];
      if (one.verdict == Verdict::Pass)
        ++totals.passed;
      else if (one.verdict == Verdict::Skipped)
        ++totals.skipped;
      else
        ++totals.failed;
      report(cases[reported], one);
    }
  });
  return totals;
}

}  // namespace ncc::check
