#include "tools/neuron-sim/levels.h"

#include "common/files/files.h"
#include "ir-formats/neff/header.h"

namespace ncc::sim {
namespace {

constexpr size_t kFirstBytes = 4096;

bool has_extension(const std::string& path, std::string_view extension) {
  return std::string_view(path).ends_with(extension);
}

bool is_neff(std::string_view first, const std::string& path) {
  if (has_extension(path, ".neff")) return true;  // a damaged one gets a NEFF's diagnostic
  constexpr std::string_view kHeaderSize("\0\4\0\0\0\0\0\0", 8);
  return first.size() >= 16 && (first[0] == 1 || first[0] == 2) && first.substr(8, 8) == kHeaderSize;
}
bool is_penguin(std::string_view first, const std::string&) {
  return first.starts_with("NCCPENG\n") || first.starts_with("penguin ");
}
bool is_bir(std::string_view first, const std::string& path) {
  return first.starts_with("{") || path.find("bir") != std::string::npos;
}
bool is_hlo(std::string_view first, const std::string& path) {
  if (has_extension(path, ".pb") || has_extension(path, ".mlir") || has_extension(path, ".hlo")) return true;
  return first.find("HloModule") != std::string_view::npos ||
         first.find("module @") != std::string_view::npos ||
         first.find("func.func") != std::string_view::npos;
}

constexpr Level kLevels[] = {
#define LEVEL(name, recognises, run) {name, recognises, run},
#include "tools/neuron-sim/levels.def"
};

}  // namespace

Result<const Level*> find_level(const std::string& path) {
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view first = file->text().substr(0, kFirstBytes);
  for (const Level& level : kLevels) {
    if (!level.recognises(first, path)) continue;
    if (level.run == nullptr)
      return error(Code::ERUN003,
                   fmt::format("'{}' is {}: neuron-sim does not execute that level", path, level.name));
    return &level;
  }
  return error(Code::EFIL003, path, "a program", "it is neither NEFF, Penguin, BIR nor HLO");
}

}  // namespace ncc::sim
