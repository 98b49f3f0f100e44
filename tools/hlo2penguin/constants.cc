#include "tools/hlo2penguin/constants.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/files/files.h"

namespace ncc::hlo2penguin {

constexpr int64_t kAlignment = 64;

ConstantStore::Location ConstantStore::add(std::span<const std::byte> bytes) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  const std::string hash = fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
  const auto [entry, is_new] = offsets_.try_emplace(fmt::format("{}:{}", hash, bytes.size()), 0);
  if (is_new) {
    entry->second = (size_ + kAlignment - 1) / kAlignment * kAlignment;
    pieces_.emplace_back(entry->second, bytes);
    size_ = entry->second + static_cast<int64_t>(bytes.size());
  }
  return {entry->second, hash};
}

Status ConstantStore::write(const std::string& path) const {
  std::string out(static_cast<size_t>(size_), '\0');
  for (const auto& [offset, bytes] : pieces_)
    std::copy(reinterpret_cast<const char*>(bytes.data()),
              reinterpret_cast<const char*>(bytes.data()) + bytes.size(), out.begin() + offset);
  return write_file(path, out);
}

}  // namespace ncc::hlo2penguin
