#include "driver/tool_path.h"

#include <filesystem>

namespace ncc::driver {

namespace fs = std::filesystem;

std::string own_folder() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  return failure ? "." : self.parent_path().string();
}

std::string find_tool(const std::string& name) {
  for (const char* folder : {"/private/", "/"}) {
    const std::string path = own_folder() + folder + name;
    std::error_code failure;
    if (fs::is_regular_file(path, failure)) return path;
  }
  return "";
}

std::string searched_folders() { return own_folder() + "/private or " + own_folder(); }

}  // namespace ncc::driver
