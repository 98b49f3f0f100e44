// One child process, run to its end: no shell, both outputs delivered line by line, resources measured.
//
// The child gets its own process group (a terminal's Ctrl-C reaches the parent alone, which then ends the
// whole group), dies with the parent (PR_SET_PDEATHSIG), leaves no core file (RLIMIT_CORE 0) and reads
// /dev/null. Linux only: fork, signalfd, wait4. Boost.Process offers none of group, parent-death signal and
// rusage portably; see docs/decisions.md.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ncc::process {

struct Command {
  std::string executable;          // a path; PATH is not searched
  std::vector<std::string> args;   // without argv[0], which is `executable`
  std::string cwd;                 // empty = the caller's
  double timeout_s = 0;            // 0 = none
  int64_t memory_limit_bytes = 0;  // of address space; 0 = none
};

enum class ExitKind : uint8_t {
  Exited,       // value = exit status
  Signaled,     // value = signal number
  TimedOut,     // ended by us after timeout_s; value = signal it died of
  Interrupted,  // ended by us because the user asked; value = the signal we got (SIGINT, SIGTERM, SIGHUP)
  NotStarted    // value = errno, `why` names the step
};

struct Exit {
  ExitKind kind = ExitKind::Exited;
  int value = 0;
  double wall_s = 0;
  int64_t peak_rss_bytes = 0;
  std::string why;  // NotStarted: what failed
  double user_s = 0;
  double system_s = 0;
  int64_t machine_peak_bytes = 0;  // most memory in use on the whole machine while the child ran

  bool ok() const { return kind == ExitKind::Exited && value == 0; }
};

enum class Stream : uint8_t { Stdout, Stderr };

/// Who listens to a running child.
struct Listener {
  std::function<void(Stream, std::string_view line)>
      line;                    // without the newline; very long lines come in pieces
  std::function<void()> tick;  // a few times a second while the child runs; may be empty
};

/// Holds SIGINT, SIGTERM, SIGHUP and SIGCHLD for its lifetime and delivers them as values: between children
/// through `interrupted`, during one through `run`. One at a time, created before any thread.
class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// The first interrupting signal received so far, else 0. Does not block.
  int interrupted();
  int fd() const { return fd_; }
  /// Lets a child start with the signal state that we had.
  void restore_in_child() const;

 private:
  int fd_ = -1;
  int interrupted_ = 0;
  struct Saved;
  Saved* saved_;
};

/// Starts the command, relays its output, waits for it. Never throws; every outcome is an Exit.
Exit run(const Command& command, SignalGate& gate, const Listener& listener);

/// The name of a signal: "SIGSEGV".
std::string signal_name(int signal);

/// A word for a POSIX shell: as it is when harmless, else in single quotes.
std::string shell_quote(std::string_view word);
/// Words joined by spaces, each quoted when needed.
std::string shell_join(const std::vector<std::string>& words);

}  // namespace ncc::process
