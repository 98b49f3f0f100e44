#include "common/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ncc::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGrace_s = 2.0;          // between asking a child to end and killing it
constexpr double kDrain_s = 0.5;          // for output held open by a grandchild after the child ended
constexpr size_t kLongestLine = 1 << 16;  // bytes; longer lines are delivered in pieces

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One end of a child's output: bytes in, lines out.
class OutputPipe {
 public:
  OutputPipe(Stream stream, const Listener& listener) : stream_(stream), listener_(listener) {}
  ~OutputPipe() { close(); }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  void adopt(int fd) {
    fd_ = fd;
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  /// Reads what is there, up to a bound so that a flood of output cannot keep the caller from its other
  /// duties; closes itself at the end of the stream.
  void drain() {
    std::array<char, 1 << 16> chunk;
    for (int reads = 0; is_open() && reads < 16; ++reads) {
      const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return close();
      split({chunk.data(), static_cast<size_t>(got)});
    }
  }

  void close() {
    if (fd_ < 0) return;
    if (!partial_.empty()) emit(partial_);
    partial_.clear();
    ::close(fd_);
    fd_ = -1;
  }

 private:
  void split(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t newline = bytes.find('\n');
      if (newline == std::string_view::npos) {
        partial_ += bytes;
        if (partial_.size() < kLongestLine) return;
        emit(partial_);
        partial_.clear();
        return;
      }
      partial_ += bytes.substr(0, newline);
      emit(partial_);
      partial_.clear();
      bytes.remove_prefix(newline + 1);
    }
  }
  void emit(std::string_view line) {
    if (listener_.line) listener_.line(stream_, line);
  }

  Stream stream_;
  const Listener& listener_;
  int fd_ = -1;
  std::string partial_;
};

struct PipePair {
  int read_end = -1;
  int write_end = -1;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  int take_read() { return std::exchange(read_end, -1); }
  ~PipePair() {
    close_write();
    if (read_end >= 0) ::close(read_end);
  }
};

/// What the child tells its parent when it cannot become the command.
struct StartFailure {
  int error_number;
  int step;
};
constexpr std::array<const char*, 3> kSteps = {"cannot enter the work folder", "cannot redirect its output",
                                               "cannot execute it"};

/// Runs in the child between fork and exec: async-signal-safe calls only. Returns only on failure.
StartFailure become(const Command& command, char* const* argv, int out, int err, pid_t parent,
                    const SignalGate& gate) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(128 + SIGKILL);  // the parent died before the line above
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (command.memory_limit_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(command.memory_limit_bytes);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  gate.restore_in_child();
  if (!command.cwd.empty() && ::chdir(command.cwd.c_str()) != 0) return {errno, 0};
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) return {errno, 1};
  if (null > 2) ::close(null);
  ::execv(command.executable.c_str(), argv);
  return {errno, 2};
}

Exit not_started(int error_number, const char* step) {
  Exit exit;
  exit.kind = ExitKind::NotStarted;
  exit.value = error_number;
  exit.why = std::string(step) + ": " + std::strerror(error_number);
  return exit;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// MemTotal - MemAvailable of the machine; 0 when the kernel does not say.
int64_t memory_in_use() {
  std::array<char, 256> text{};
  const int fd = ::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (got <= 0) return 0;
  const auto field = [&](const char* name) -> int64_t {
    const char* at = std::strstr(text.data(), name);
    return at == nullptr ? 0 : std::strtoll(at + std::strlen(name), nullptr, 10) * 1024;
  };
  const int64_t available = field("MemAvailable:");
  return available == 0 ? 0 : field("MemTotal:") - available;
}

/// A started child and the loop that watches it.
class Watch {
 public:
  Watch(pid_t pid, const Command& command, SignalGate& gate, const Listener& listener, OutputPipe& out,
        OutputPipe& err)
      : pid_(pid), command_(command), gate_(gate), listener_(listener), out_(out), err_(err) {}

  Exit until_end() {
    while (!reaped_ || ((out_.is_open() || err_.is_open()) && seconds_since(ended_) < kDrain_s)) {
      wait_for_event();
      if (!reaped_) check_interrupt();
      out_.drain();
      err_.drain();
      if (!reaped_) {
        sample_machine();
        reap();
        escalate();
        tick();
      }
    }
    // Whatever the child left behind in its group (a grandchild holding the pipes) ends with it.
    ::kill(-pid_, SIGKILL);
    return exit_;
  }

 private:
  void wait_for_event() {
    std::array<pollfd, 3> watched = {
        {{gate_.fd(), POLLIN, 0}, {out_.fd(), POLLIN, 0}, {err_.fd(), POLLIN, 0}}};
    double wait_s = reaped_ ? 0.02 : 0.25;
    if (command_.timeout_s > 0 && !ending_)
      wait_s = std::min(wait_s, std::max(0.0, command_.timeout_s - seconds_since(start_)));
    if (ending_) wait_s = 0.1;
    ::poll(watched.data(), watched.size(), static_cast<int>(wait_s * 1000) + 1);
  }

  void check_interrupt() {
    const int signal = gate_.interrupted();
    if (signal != 0 && !ending_) end_child(ExitKind::Interrupted, signal);
  }

  void end_child(ExitKind reason, int value) {
    ending_ = true;
    asked_ = Clock::now();
    reason_ = reason;
    reason_value_ = value;
    ::kill(-pid_, SIGTERM);
  }

  void escalate() {
    if (reaped_) return;
    if (!ending_ && command_.timeout_s > 0 && seconds_since(start_) >= command_.timeout_s)
      end_child(ExitKind::TimedOut, SIGTERM);
    if (ending_ && seconds_since(asked_) > kGrace_s) ::kill(-pid_, SIGKILL);
  }

  void reap() {
    int status = 0;
    rusage usage{};
    if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return;
    reaped_ = true;
    ended_ = Clock::now();
    exit_.wall_s = seconds_since(start_);
    exit_.peak_rss_bytes = static_cast<int64_t>(usage.ru_maxrss) * 1024;
    exit_.user_s = seconds(usage.ru_utime);
    exit_.system_s = seconds(usage.ru_stime);
    exit_.machine_peak_bytes = machine_peak_bytes_;
    exit_.kind = WIFSIGNALED(status) ? ExitKind::Signaled : ExitKind::Exited;
    exit_.value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (ending_) {
      exit_.kind = reason_;
      exit_.value = reason_value_;
    }
  }

  void sample_machine() {
    if (machine_peak_bytes_ != 0 && seconds_since(last_sample_) < 0.1) return;
    last_sample_ = Clock::now();
    machine_peak_bytes_ = std::max(machine_peak_bytes_, memory_in_use());
  }

  void tick() {
    if (!listener_.tick || seconds_since(last_tick_) < 0.25) return;
    last_tick_ = Clock::now();
    listener_.tick();
  }

  pid_t pid_;
  const Command& command_;
  SignalGate& gate_;
  const Listener& listener_;
  OutputPipe& out_;
  OutputPipe& err_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_tick_ = Clock::now();
  Clock::time_point last_sample_{};
  int64_t machine_peak_bytes_ = 0;
  Clock::time_point asked_{};
  Clock::time_point ended_{};
  bool ending_ = false;
  bool reaped_ = false;
  ExitKind reason_ = ExitKind::Exited;
  int reason_value_ = 0;
  Exit exit_;
};

}  // namespace

Exit run(const Command& command, SignalGate& gate, const Listener& listener) {
  PipePair out, err, failure;
  if (!out.open() || !err.open() || !failure.open()) return not_started(errno, "cannot make a pipe");

  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(command.executable.c_str()));
  for (const std::string& arg : command.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(errno, "cannot fork");
  if (pid == 0) {
    const StartFailure what = become(command, argv.data(), out.write_end, err.write_end, parent, gate);
    const ssize_t told = ::write(failure.write_end, &what, sizeof what);
    ::_exit(told == sizeof what ? 127 : 126);
  }
  ::setpgid(pid, pid);  // in both processes: neither order leaves a moment without the group
  out.close_write();
  err.close_write();
  failure.close_write();

  StartFailure what{};
  ssize_t told = 0;
  do told = ::read(failure.read_end, &what, sizeof what);
  while (told < 0 && errno == EINTR);
  if (told == static_cast<ssize_t>(sizeof what)) {
    ::waitpid(pid, nullptr, 0);
    return not_started(what.error_number, kSteps[static_cast<size_t>(what.step)]);
  }

  OutputPipe child_out(Stream::Stdout, listener);
  OutputPipe child_err(Stream::Stderr, listener);
  child_out.adopt(out.take_read());
  child_err.adopt(err.take_read());
  return Watch(pid, command, gate, listener, child_out, child_err).until_end();
}

}  // namespace ncc::process
