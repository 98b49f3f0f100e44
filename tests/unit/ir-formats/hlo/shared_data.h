// The optional data folder of the project's tests: ../shared beside the repository. Tests that need it pass
// quietly when it is not there.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace ncc::hlo {

/// Files below ../shared/<folder> with that file name (or extension, when it starts with a dot), sorted;
/// empty when absent.
inline std::vector<std::string> shared_files(const std::string& folder, const std::string& wanted) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(NCC_SOURCE_DIR).parent_path() / "shared" / folder;
  std::vector<std::string> files;
  if (!fs::is_directory(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.filename() == wanted || (wanted[0] == '.' && path.extension() == wanted)) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace ncc::hlo
