// MD5 and SHA-256 of payloads (libcrypto).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ncc::neff {

class Digest {
 public:
  enum class Kind { Md5, Sha256 };
  explicit Digest(Kind kind);
  ~Digest();
  void add(std::span<const std::byte> bytes);
  /// The digest, zero-filled to 32 bytes.
  std::array<uint8_t, 32> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ncc::neff
