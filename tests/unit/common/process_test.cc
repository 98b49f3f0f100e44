#include "common/process/process.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <regex>

#include "common/diag/suggest.h"
#include "common/files/files.h"
#include "common/log/log.h"

namespace ncc::process {
namespace {

struct Heard {
  std::vector<std::string> out;
  std::vector<std::string> err;
};

Exit shell(const std::string& script, Heard* heard = nullptr, double timeout_s = 0) {
  SignalGate gate;
  Listener listener;
  listener.line = [&](Stream stream, std::string_view line) {
    if (heard != nullptr) (stream == Stream::Stdout ? heard->out : heard->err).emplace_back(line);
  };
  return run({"/bin/sh", {"-c", script}, "/", timeout_s}, gate, listener);
}

TEST_CASE("output arrives line by line, the last one without a newline too", "[process]") {
  Heard heard;
  CHECK(shell("echo a; echo b >&2; printf c", &heard).ok());
  CHECK(heard.out == std::vector<std::string>{"a", "c"});
  CHECK(heard.err == std::vector<std::string>{"b"});
}

TEST_CASE("status, signal and resources of the child are values", "[process]") {
  CHECK(shell("exit 3").value == 3);
  const Exit killed = shell("kill -9 $$");
  CHECK(killed.kind == ExitKind::Signaled);
  CHECK(killed.value == SIGKILL);
  CHECK(killed.peak_rss_bytes > 0);
}

TEST_CASE("a child that cannot be started says why", "[process]") {
  SignalGate gate;
  const Exit missing = run({"/no/such/tool", {}, "", 0}, gate, {});
  CHECK(missing.kind == ExitKind::NotStarted);
  CHECK(missing.why.find("No such file") != std::string::npos);
  CHECK(run({"/bin/sh", {}, "/no/such/folder", 0}, gate, {}).why.find("work folder") != std::string::npos);
}

TEST_CASE("a child that runs too long is ended with its group", "[process]") {
  const Exit late = shell("sleep 20 & sleep 20", nullptr, 0.2);
  CHECK(late.kind == ExitKind::TimedOut);
  CHECK(late.wall_s < 5);
}

TEST_CASE("a grandchild that holds the output open does not hold us", "[process]") {
  const Exit exit = shell("sleep 20 & exit 0");
  CHECK(exit.ok());
  CHECK(exit.wall_s < 5);
}

TEST_CASE("an interrupt during a run ends the child and is told", "[process]") {
  const Exit exit = shell("kill -INT $PPID; sleep 20");
  CHECK(exit.kind == ExitKind::Interrupted);
  CHECK(exit.value == SIGINT);
}

TEST_CASE("a child leaves no core file and reads nothing", "[process]") {
  Heard heard;
  shell("ulimit -c; cat; echo end", &heard);
  CHECK(heard.out == std::vector<std::string>{"0", "end"});
}

TEST_CASE("a limit of address space binds the child alone", "[process]") {
  SignalGate gate;
  std::string limit;
  Listener listener;
  listener.line = [&](Stream, std::string_view line) { limit = std::string(line); };
  CHECK(run({"/bin/sh", {"-c", "ulimit -v"}, "/", 0, int64_t{512} << 20}, gate, listener).ok());
  CHECK(limit == std::to_string(512 << 10));
  rlimit ours{};
  REQUIRE(::getrlimit(RLIMIT_AS, &ours) == 0);
  CHECK(ours.rlim_cur != rlim_t{512} << 20);
}

TEST_CASE("processor time of the child and memory of the machine are told", "[process]") {
  const Exit exit = shell("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done");
  CHECK(exit.user_s + exit.system_s > 0);
  CHECK(exit.machine_peak_bytes > exit.peak_rss_bytes);
}

TEST_CASE("a record of the log file has time, level, process and source", "[log]") {
  std::string path = "/tmp/log_test_XXXXXX";
  const int fd = ::mkstemp(path.data());
  REQUIRE(fd >= 0);
  ::close(fd);
  log::Logger logger({log::Level::Off});
  REQUIRE(logger.open_file(path, log::Level::Info).is_ok());
  logger.write(log::Level::Info, "job.Kelper.5", "Starting job Kelper");
  logger.write(log::Level::Debug, "job.Kelper.5", "below the file's level");
  logger.close_file();
  const Result<std::string> text = read_file(path);
  ::unlink(path.c_str());
  REQUIRE(text.is_ok());
  const std::regex record(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO \d+ \[job\.Kelper\.5\]: Starting job Kelper\n)");
  CHECK(std::regex_match(text.value(), record));
}

TEST_CASE("verbosity accepts names and numbers", "[log]") {
  using log::Level;
  CHECK(log::parse_verbosity("Info")->level == Level::Info);
  CHECK(log::parse_verbosity("2")->level == Level::Debug);
  CHECK(log::parse_verbosity("31")->level == Level::Error);
  CHECK(log::parse_verbosity("35")->progress_dots);
  CHECK_FALSE(log::parse_verbosity("loud"));
  CHECK_FALSE(log::parse_verbosity("-1"));
}

TEST_CASE("the closest name is suggested", "[diag]") {
  CHECK(closest_name("--targt", {"--output", "--target"}) == "--target");
  CHECK(closest_name("x", {}).empty());
}

}  // namespace
}  // namespace ncc::process
