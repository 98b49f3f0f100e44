#include "driver/cache/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common/files/files.h"

namespace ncc::driver::cache {

namespace fs = std::filesystem;

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::string> digest_path(const std::string& path) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
    return digest(file->text());
  }
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator entry(path, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->is_regular_file(failure)) names.push_back(entry->path().string());
  if (failure) return error(Code::EFIL001, path, failure.message());
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) {
    NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(name));
    all += fmt::format("{} {}\n", name.substr(path.size()), digest(file->text()));
  }
  return digest(all);
}

}  // namespace ncc::driver::cache
