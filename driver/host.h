// The operating system as the runner sees it: one thin interface, so that ordering, failure and interruption
// are tested without a fork or a disk. PosixHost is the real one.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"
#include "common/process/process.h"

namespace ncc::driver {

class Host {
 public:
  using LineWriter = std::function<void(std::string_view line)>;

  virtual ~Host() = default;
  virtual process::Exit run(const process::Command& command, const process::Listener& listener) = 0;
  /// The signal by which the user asked to stop, else 0.
  virtual int interrupted() = 0;
  /// Bytes of a file; -1 when there is none.
  virtual int64_t file_size(const std::string& path) = 0;
  /// The file ends before it says it ends (cut_off.h).
  virtual bool is_cut_off(const std::string& path) = 0;
  virtual std::optional<std::string> read_file(const std::string& path) = 0;
  /// Atomic; parent folders are made. EFIL002.
  virtual Status write_file(const std::string& path, std::string_view text, bool executable) = 0;
  /// The files and folders whose last path component matches a pattern with *; sorted.
  virtual std::vector<std::string> matching(const std::string& pattern) = 0;
  /// What a folder's file system has left for us; a large number when it does not say.
  virtual int64_t free_bytes(const std::string& folder) = 0;
  /// EFIL001, EFIL002. Nothing half-written is seen under `to`.
  virtual Status copy_file(const std::string& from, const std::string& to) = 0;
  virtual void remove_file(const std::string& path) = 0;
  virtual Status make_parent_folder(const std::string& path) = 0;
  /// A file that lines are appended to as they come; flushed per line. An empty function when it cannot be
  /// opened.
  virtual LineWriter open_log(const std::string& path) = 0;
};

/// What Host::matching answers for the real file system.
std::vector<std::string> files_matching(const std::string& pattern);

class PosixHost final : public Host {
 public:
  explicit PosixHost(process::SignalGate& gate) : gate_(gate) {}
  process::Exit run(const process::Command& command, const process::Listener& listener) override;
  int interrupted() override;
  int64_t file_size(const std::string& path) override;
  bool is_cut_off(const std::string& path) override;
  std::optional<std::string> read_file(const std::string& path) override;
  Status write_file(const std::string& path, std::string_view text, bool executable) override;
  std::vector<std::string> matching(const std::string& pattern) override;
  int64_t free_bytes(const std::string& folder) override;
  Status copy_file(const std::string& from, const std::string& to) override;
  void remove_file(const std::string& path) override;
  Status make_parent_folder(const std::string& path) override;
  LineWriter open_log(const std::string& path) override;

 private:
  process::SignalGate& gate_;
};

}  // namespace ncc::driver
