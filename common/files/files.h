// Files: whole-file reads, memory maps, atomic writes (temporary + rename).
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/diag/status.h"

namespace ncc {

/// The whole file as bytes. EFIL001 when it cannot be read.
Result<std::string> read_file(const std::string& path);

/// Writes to a temporary beside `path` and renames; nothing half-written is ever seen under `path`. EFIL002
/// on failure.
Status write_file(const std::string& path, std::string_view bytes);

/// A read-only memory map; empty files map to an empty span.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_;
  size_t size_;
};

}  // namespace ncc
