// The project's log: records with a level on the 0..70 scale, a console sink and a file sink.
//
//   file, and console below USER:   2026-01-31T12:00:00Z INFO 1234 [job.WalrusDriver.0]: message
//   console at USER:                2026-01-31T12:00:00Z message
//
// Source: spec/driver.md §1.4 (levels), §4.4 (formats). Libraries never print: the tool or the driver owns
// the Logger and passes it down.
#pragma once
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "common/diag/status.h"

namespace ncc::log {

enum class Level : int {
  Trace = 5,
  Debug = 10,
  Info = 20,
  Warning = 30,
  Error = 40,
  Critical = 50,
  User = 60,
  Off = 70
};

/// What `--verbose` and `--logfile-verbose` accept.
struct Verbosity {
  Level level = Level::User;
  bool progress_dots = false;  // the integer 35: USER level, no records on stdout, a dot now and then instead
};

/// A level name in any case, or an integer: 0 -> warning, 1 -> info, 2 -> debug, 35 -> user with dots, any
/// other rounds up to the next level. nullopt when it is neither.
std::optional<Verbosity> parse_verbosity(std::string_view text);

/// "INFO", "USER", ...
std::string_view name(Level level);

/// UTC, "%Y-%m-%dT%H:%M:%SZ".
std::string timestamp();

class Logger {
 public:
  /// Console only; open_file adds the file sink.
  explicit Logger(Verbosity console = {}) : console_(console) {}
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void set_console(Verbosity console) { console_ = console; }

  /// Starts the file sink at `path` (truncates). EFIL002 when it cannot be opened.
  Status open_file(const std::string& path, Level level);
  /// Makes the file sink's bytes visible to other readers.
  void flush_file();
  /// Flushes and closes the file sink, if any.
  void close_file();

  /// One record; `source` is the logger's name, e.g. "job.Kelper.0". Lines of a multi-line message share the
  /// record.
  void write(Level level, std::string_view source, std::string_view message);
  /// A line for the person at the terminal that belongs to no level: diagnostics and what tools print on
  /// stderr. Goes to stderr as it is (red on a terminal; nothing at OFF) and to the file as ERROR.
  void write_raw_error(std::string_view source, std::string_view line);

  /// Progress display of level 35: one dot.
  void dot();
  bool shows_dots() const { return console_.progress_dots; }
  /// Ends the row of dots, if any were printed.
  void end_dots();

 private:
  void write_to_file(Level level, std::string_view source, std::string_view message);

  Verbosity console_;
  std::FILE* file_ = nullptr;
  Level file_level_ = Level::Info;
  bool dots_printed_ = false;
};

}  // namespace ncc::log
