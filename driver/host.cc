#include "driver/host.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "common/files/files.h"
#include "driver/cut_off.h"
#include "driver/work_dir.h"

namespace ncc::driver {

namespace fs = std::filesystem;

process::Exit PosixHost::run(const process::Command& command, const process::Listener& listener) {
  return process::run(command, gate_, listener);
}

int PosixHost::interrupted() { return gate_.interrupted(); }

int64_t PosixHost::file_size(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return -1;
  // A folder counts as filled: model folders are looked into by the tool that reads them.
  return S_ISDIR(facts.st_mode) ? 1 : static_cast<int64_t>(facts.st_size);
}

bool PosixHost::is_cut_off(const std::string& path) {
  const Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  return file.is_ok() && driver::is_cut_off(path, file.value()->text());
}

std::optional<std::string> PosixHost::read_file(const std::string& path) {
  Result<std::string> text = ncc::read_file(path);
  if (!text.is_ok()) return std::nullopt;
  return text.take();
}

Status PosixHost::write_file(const std::string& path, std::string_view text, bool executable) {
  NCC_TRY(make_parent_folder(path));
  NCC_TRY(ncc::write_file(path, text));
  if (executable) ::chmod(path.c_str(), 0755);
  return Status::ok();
}

std::vector<std::string> PosixHost::matching(const std::string& pattern) { return files_matching(pattern); }

std::vector<std::string> files_matching(const std::string& pattern) {
  const fs::path path(pattern);
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator entry(path.parent_path(), failure), end; !failure && entry != end;
       entry.increment(failure))
    if (::fnmatch(path.filename().c_str(), entry->path().filename().c_str(), FNM_PERIOD) == 0)
      found.push_back(entry->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

int64_t PosixHost::free_bytes(const std::string& folder) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(facts.f_bavail) * static_cast<int64_t>(facts.f_frsize);
}

Status PosixHost::copy_file(const std::string& from, const std::string& to) {
  NCC_TRY(make_parent_folder(to));
  return publish(from, to, Durability::Convenience);
}

void PosixHost::remove_file(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

Status PosixHost::make_parent_folder(const std::string& path) {
  std::error_code failure;
  const fs::path folder = fs::path(path).parent_path();
  fs::create_directories(folder, failure);
  return failure ? error(Code::EFIL002, folder.string(), failure.message()) : Status::ok();
}

Host::LineWriter PosixHost::open_log(const std::string& path) {
  if (!make_parent_folder(path).is_ok()) return {};
  std::FILE* opened = std::fopen(path.c_str(), "we");
  if (opened == nullptr) return {};
  const std::shared_ptr<std::FILE> file(opened, [](std::FILE* f) { std::fclose(f); });
  return [file](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), file.get());
    std::fputc('\n', file.get());
    std::fflush(file.get());
  };
}

}  // namespace ncc::driver
