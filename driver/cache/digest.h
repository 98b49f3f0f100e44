// 128-bit content digests (XXH3) as text: the names of cached files and the keys of cached results.
#pragma once
#include <string>
#include <string_view>

#include "common/diag/status.h"

namespace ncc::driver::cache {

/// 32 hexadecimal digits.
std::string digest(std::string_view bytes);

/// The digest of a file's bytes; of a folder: of its files' names and digests, in order. EFIL001.
Result<std::string> digest_path(const std::string& path);

}  // namespace ncc::driver::cache
