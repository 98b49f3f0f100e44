// --progress: one line on a terminal, rewritten in place: which job, which pass, how long.
#pragma once
#include <chrono>
#include <string>

#include "driver/runner.h"

namespace ncc::driver {

class TerminalProgress final : public ProgressView {
 public:
  void job(const std::string& name, size_t index, size_t count) override;
  void pass(std::string_view name) override;
  void tick() override;
  void clear() override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();
  std::string job_, pass_;
  size_t index_ = 0, count_ = 0;
  Clock::time_point started_ = Clock::now();
  bool shown_ = false;
};

/// The line without terminal codes: "[3/6] Frontend: layout 1.2 s".
std::string progress_line(size_t index, size_t count, const std::string& job, const std::string& pass,
                          double elapsed_s);

}  // namespace ncc::driver
