// The folder that a compile works in: fresh or given, locked against a second compile, removed or kept at the
// end; and publishing, the only way anything leaves it. Source: spec/driver.md §4.6, DESIGN §14 H6.
#pragma once
#include <cstdint>
#include <string>

#include "common/diag/status.h"

namespace ncc::driver {

class WorkDir {
 public:
  /// `given` is the --temp-dir (made when missing), or "" for a fresh neuronxcc-XXXXXXXX in `launch_dir`.
  /// EFIL002 when it cannot be made, EDRV004 when another compile holds it.
  static Result<WorkDir> open(const std::string& given, const std::string& launch_dir);
  WorkDir(WorkDir&& other) noexcept;
  WorkDir& operator=(WorkDir&&) = delete;
  ~WorkDir();  // releases the lock; does not remove

  const std::string& path() const { return path_; }
  bool is_fresh() const { return fresh_; }
  /// Removes the folder and everything in it; that it is gone already is no error.
  void remove();

 private:
  WorkDir(std::string path, bool fresh, int lock) : path_(std::move(path)), fresh_(fresh), lock_(lock) {}
  std::string path_;
  bool fresh_ = false;
  int lock_ = -1;
};

/// Results survive a power cut once published; copies of logs and metrics need not, and are not waited for.
enum class Durability : uint8_t { Durable, Convenience };

/// Copies `from` to the final name `to`: temporary beside it, fsync when durable, rename. When `to` is a
/// device or pipe it is written into. EFIL002, or EDRV009 when the disk is full.
Status publish(const std::string& from, const std::string& to, Durability durability);

/// Finds out before any work whether `publish` to this path can succeed. EFIL002.
Status check_publishable(const std::string& to);

}  // namespace ncc::driver
