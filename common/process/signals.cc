#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "common/process/process.h"

namespace ncc::process {
namespace {
constexpr std::array<int, 3> kInterrupts = {SIGINT, SIGTERM, SIGHUP};
}

struct SignalGate::Saved {
  sigset_t mask;
  std::array<struct sigaction, kInterrupts.size()> actions;
  struct sigaction pipe_action;
};

SignalGate::SignalGate() : saved_(new Saved) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGCHLD);
  // A shell starts background commands with SIGINT ignored, and an ignored signal never reaches a signalfd.
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (size_t i = 0; i < kInterrupts.size(); ++i) {
    sigaddset(&held, kInterrupts[i]);
    sigaction(kInterrupts[i], &normal, &saved_->actions[i]);
  }
  // A reader that goes away (a pager, a closed terminal) must not end us half-way: writes to it just fail.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &saved_->pipe_action);
  sigprocmask(SIG_BLOCK, &held, &saved_->mask);
  fd_ = ::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalGate::~SignalGate() {
  interrupted();  // drains what is pending, so that restoring the mask does not kill the caller
  if (fd_ >= 0) ::close(fd_);
  sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
  for (size_t i = 0; i < kInterrupts.size(); ++i) sigaction(kInterrupts[i], &saved_->actions[i], nullptr);
  sigaction(SIGPIPE, &saved_->pipe_action, nullptr);
  delete saved_;
}

int SignalGate::interrupted() {
  signalfd_siginfo event{};
  while (::read(fd_, &event, sizeof event) == static_cast<ssize_t>(sizeof event))
    if (event.ssi_signo != SIGCHLD && interrupted_ == 0) interrupted_ = static_cast<int>(event.ssi_signo);
  return interrupted_;
}

void SignalGate::restore_in_child() const {
  sigaction(SIGPIPE, &saved_->pipe_action, nullptr);
  sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
}

}  // namespace ncc::process
