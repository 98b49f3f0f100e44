#include "driver/crash_bundle.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "common/files/files.h"
#include "driver/host.h"

namespace ncc::driver {
namespace {

namespace fs = std::filesystem;

/// A POSIX ustar archive, written member by member.
class TarFile {
 public:
  explicit TarFile(const std::string& path) : file_(std::fopen(path.c_str(), "wbe")) {}
  ~TarFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;
  bool is_open() const { return file_ != nullptr; }

  void add(const std::string& name, std::string_view bytes) {
    std::array<char, kBlock> header{};
    std::snprintf(header.data(), 100, "%s", name.c_str());
    std::memcpy(header.data() + 100, name.ends_with(".sh") ? "0000755" : "0000644", 7);
    std::memcpy(header.data() + 108, "0000000", 7);
    std::memcpy(header.data() + 116, "0000000", 7);
    std::snprintf(header.data() + 124, 12, "%011zo", bytes.size());
    std::memcpy(header.data() + 136, "00000000000", 11);
    std::memcpy(header.data() + 148, "        ", 8);
    header[156] = '0';
    std::memcpy(header.data() + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header.data() + 148, 8, "%06o", sum);
    put({header.data(), header.size()});
    put(bytes);
    put(std::string((kBlock - bytes.size() % kBlock) % kBlock, '\0'));
  }

  /// Ends the archive; false when anything could not be written.
  bool finish() {
    put(std::string(2 * kBlock, '\0'));
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    return closed && good_;
  }

 private:
  static constexpr size_t kBlock = 512;
  void put(std::string_view bytes) {
    if (bytes.empty()) return;  // of an empty file there may be no data at all
    good_ = std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() && good_;
  }
  std::FILE* file_;
  bool good_ = true;
};

/// What goes in from the work folder: logs, state, replay scripts, and the inputs of the failed job.
std::set<std::string> members(const Plan& plan, const std::string& failed_job, const std::string& work_dir) {
  std::set<std::string> names = {"state.json", "global_metric_store.json", "log-neuron-cc.txt"};
  const auto add_matching = [&](const std::string& pattern) {
    for (const std::string& path : files_matching(work_dir + "/" + pattern))
      names.insert(path.substr(work_dir.size() + 1));
  };
  add_matching("log/*.log");
  add_matching("replay_*.sh");
  const auto job =
      std::find_if(plan.jobs.begin(), plan.jobs.end(), [&](const Job& j) { return j.name == failed_job; });
  if (job == plan.jobs.end()) return names;
  std::vector<std::string> subgraphs = files_matching(work_dir + "/sg*");
  for (const std::string& core : files_matching(work_dir + "/nc*"))
    for (std::string& path : files_matching(core + "/sg*")) subgraphs.push_back(std::move(path));
  for (const std::string& path : subgraphs) {
    const Job one = for_subgraph(*job, path.substr(work_dir.size() + 1));
    for (const auto* list : {&one.reads, &one.may_read})
      for (const std::string& name : *list)
        if (!name.starts_with('/')) add_matching(name);
  }
  for (const std::string& name : job->reads)
    if (!name.starts_with('/') && name.find("{sg}") == std::string::npos) names.insert(name);
  for (const std::string& name : job->may_read)
    if (name.find("{sg}") == std::string::npos) add_matching(name);
  return names;
}

}  // namespace

Status write_crash_bundle(const std::string& path, const Plan& plan, const std::string& failed_job,
                          const std::string& work_dir, const std::string& command,
                          const std::string& versions) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  TarFile tar(temporary);
  if (!tar.is_open()) return error(Code::EFIL002, path, std::string(std::strerror(errno)));
  tar.add("command.txt", command + "\n");
  tar.add("versions.txt", versions);
  const auto add_file = [&](const std::string& name, const std::string& from) {
    std::error_code failure;
    if (!fs::is_regular_file(from, failure)) return;
    const Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(from);
    if (file.is_ok()) tar.add(name, file.value()->text());
  };
  add_file("model" + fs::path(plan.model).extension().string(), plan.model);
  for (const std::string& name : members(plan, failed_job, work_dir)) add_file(name, work_dir + "/" + name);
  if (!tar.finish() || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    return error(Code::EFIL002, path, why);
  }
  return Status::ok();
}

}  // namespace ncc::driver
