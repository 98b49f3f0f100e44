#include "driver/failure.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace ncc::driver {
namespace {

const Job kJob{"WalrusDriver", "walrus_driver", "/bin/walrus_driver", {"--a", "b c"}, {}, {}, {}, ""};

Failure ended(process::ExitKind kind, int value, bool spoke = false) {
  return explain_exit(kJob, {kind, value, 1.5, int64_t{3} << 30, "cannot execute it: Permission denied"},
                      spoke);
}

TEST_CASE("exit statuses map to user error, mismatch and internal error", "[driver]") {
  using process::ExitKind;
  CHECK_FALSE(ended(ExitKind::Exited, 0).failed());
  CHECK(ended(ExitKind::Exited, 1, true).exit_status == 1);
  CHECK(ended(ExitKind::Exited, 2, true).exit_status == 2);
  CHECK(ended(ExitKind::Exited, 70, true).exit_status == 70);
  CHECK(ended(ExitKind::Exited, 3, true).code == "EDRV006");
  CHECK(ended(ExitKind::TimedOut, SIGTERM).code == "EDRV008");
  CHECK(ended(ExitKind::TimedOut, SIGTERM).exit_status == 70);
  CHECK(ended(ExitKind::NotStarted, 13).code == "EDRV002");
  CHECK(ended(ExitKind::NotStarted, 13).exit_status == 1);
}

TEST_CASE("a tool that said what is wrong is not talked over", "[driver]") {
  CHECK(ended(process::ExitKind::Exited, 1, true).headline.empty());
  CHECK(ended(process::ExitKind::Exited, 1, false).code == "EDRV013");
  CHECK(ended(process::ExitKind::Exited, 2, false).code == "EDRV014");
}

TEST_CASE("deaths by signal have their F code, however they are told", "[driver]") {
  for (const auto& [signal, code] :
       std::vector<std::pair<int, std::string>>{{SIGABRT, "F134"}, {SIGKILL, "F137"}, {SIGSEGV, "F139"}}) {
    for (const Failure& failure : {ended(process::ExitKind::Signaled, signal, true),
                                   ended(process::ExitKind::Exited, 128 + signal, true)}) {
      CHECK(failure.code == code);
      CHECK(failure.exit_status == 70);
      CHECK(failure.headline.starts_with("[" + code + "] job WalrusDriver"));
      CHECK(failure.headline.find("peak memory 3.00 GiB") != std::string::npos);
    }
  }
  CHECK(ended(process::ExitKind::Signaled, SIGBUS).code == "EDRV007");
}

TEST_CASE("an interruption ends with 128 plus the signal", "[driver]") {
  CHECK(ended(process::ExitKind::Interrupted, SIGINT).exit_status == 130);
  CHECK(ended(process::ExitKind::Interrupted, SIGTERM).exit_status == 143);
}

TEST_CASE("the replay command is quoted for a shell", "[driver]") {
  CHECK(replay_command(kJob, "/a dir") == "(cd '/a dir' && /bin/walrus_driver --a 'b c')");
  CHECK(replay_script(kJob).find("exec /bin/walrus_driver --a 'b c'\n") != std::string::npos);
  CHECK(process::shell_quote("it's") == "'it'\\''s'");
  CHECK(process::shell_quote("") == "''");
}

}  // namespace
}  // namespace ncc::driver
