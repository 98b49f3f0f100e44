#include "driver/progress.h"

#include <unistd.h>

#include <cstdio>

namespace ncc::driver {

std::string progress_line(size_t index, size_t count, const std::string& job, const std::string& pass,
                          double elapsed_s) {
  return fmt::format("[{}/{}] {}{}{} {:.1f} s", index + 1, count, job, pass.empty() ? "" : ": ", pass,
                     elapsed_s);
}

void TerminalProgress::job(const std::string& name, size_t index, size_t count) {
  job_ = name;
  pass_.clear();
  index_ = index;
  count_ = count;
  draw();
}

void TerminalProgress::pass(std::string_view name) {
  pass_ = name;
  draw();
}

void TerminalProgress::tick() { draw(); }

void TerminalProgress::draw() {
  if (::isatty(STDERR_FILENO) == 0) return;
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - started_).count();
  fmt::print(stderr, "\r\x1b[K{}", progress_line(index_, count_, job_, pass_, elapsed_s));
  std::fflush(stderr);
  shown_ = true;
}

void TerminalProgress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace ncc::driver
