#include "common/log/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

namespace ncc::log {
namespace {

struct LevelName {
  Level level;
  std::string_view name;
};
constexpr std::array<LevelName, 9> kLevels = {{{Level::Trace, "TRACE"},
                                               {Level::Debug, "DEBUG"},
                                               {Level::Info, "INFO"},
                                               {Level::Warning, "WARNING"},
                                               {Level::Error, "ERROR"},
                                               {Level::Critical, "CRITICAL"},
                                               {Level::Critical, "FATAL"},
                                               {Level::User, "USER"},
                                               {Level::Off, "OFF"}}};
constexpr int kProgressDots = 35;

Level round_up(int value) {
  for (const LevelName& row : kLevels)
    if (value <= static_cast<int>(row.level)) return row.level;
  return Level::Off;
}

/// fmt::print without its exception: output that nobody takes any more is lost, not an error.
template <class... Args>
void put(std::FILE* to, fmt::format_string<Args...> pattern, Args&&... args) {
  const std::string text = fmt::format(pattern, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace

std::optional<Verbosity> parse_verbosity(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const LevelName& row : kLevels)
    if (row.name == upper) return Verbosity{row.level};
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  // The three small numbers count "-v"s; 35 is what the frameworks always pass.
  constexpr std::array<Level, 3> kCounts = {Level::Warning, Level::Info, Level::Debug};
  if (value < static_cast<int>(kCounts.size())) return Verbosity{kCounts[static_cast<size_t>(value)]};
  if (value == kProgressDots) return Verbosity{Level::User, true};
  return Verbosity{round_up(value)};
}

std::string_view name(Level level) {
  for (const LevelName& row : kLevels)
    if (row.level == level) return row.name;
  return "OFF";
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Logger::~Logger() { close_file(); }

void Logger::flush_file() {
  if (file_ != nullptr) std::fflush(file_);
}

Status Logger::open_file(const std::string& path, Level level) {
  close_file();
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) return error(Code::EFIL002, path, std::string(std::strerror(errno)));
  file_level_ = level;
  return Status::ok();
}

void Logger::close_file() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}

void Logger::write_to_file(Level level, std::string_view source, std::string_view message) {
  if (file_ == nullptr || level < file_level_) return;
  put(file_, "{} {} {} [{}]: {}\n", timestamp(), name(level), ::getpid(), source, message);
}

void Logger::write(Level level, std::string_view source, std::string_view message) {
  write_to_file(level, source, message);
  if (level < console_.level || console_.progress_dots) return;
  if (console_.level >= Level::User)
    put(stdout, "{} {}\n", timestamp(), message);
  else
    put(stdout, "{} {} {} [{}]: {}\n", timestamp(), name(level), ::getpid(), source, message);
  std::fflush(stdout);
}

void Logger::write_raw_error(std::string_view source, std::string_view line) {
  write_to_file(Level::Error, source, line);
  end_dots();
  if (console_.level == Level::Off) return;
  if (::isatty(STDERR_FILENO) != 0)
    put(stderr, "\x1b[31m{}\x1b[0m\n", line);
  else
    put(stderr, "{}\n", line);
}

void Logger::dot() {
  if (!console_.progress_dots) return;
  std::fputc('.', stdout);
  std::fflush(stdout);
  dots_printed_ = true;
}

void Logger::end_dots() {
  if (dots_printed_) std::fputc('\n', stdout);
  std::fflush(stdout);
  dots_printed_ = false;
}

}  // namespace ncc::log
