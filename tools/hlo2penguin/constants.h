// constants.bin: the bytes of all constants, each once (content addressed), at 64-byte-aligned offsets.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/diag/status.h"

namespace ncc::hlo2penguin {

class ConstantStore {
 public:
  struct Location {
    int64_t offset;
    std::string hash;  // XXH3, 128 bits, in hex
  };
  /// The bytes must stay alive until `write`.
  Location add(std::span<const std::byte> bytes);
  /// EFIL002.
  Status write(const std::string& path) const;
  int64_t size_bytes() const { return size_; }

 private:
  std::unordered_map<std::string, int64_t> offsets_;  // by hash and size
  std::vector<std::pair<int64_t, std::span<const std::byte>>> pieces_;
  int64_t size_ = 0;
};

}  // namespace ncc::hlo2penguin
