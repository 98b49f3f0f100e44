// A host without an operating system: programs end as the test says, files are a map.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/cut_off.h"
#include "driver/host.h"

namespace ncc::driver {

class FakeHost final : public Host {
 public:
  /// What happens when the executable of this name (last path component) is run.
  struct Behaviour {
    process::Exit exit;
    std::vector<std::string> writes;  // in the command's cwd
    std::vector<std::string> stderr_lines;
    std::vector<std::string> stdout_lines;
  };
  std::map<std::string, Behaviour> tools;
  std::map<std::string, std::string> files;
  std::vector<std::string> started;
  std::vector<std::string> empty_writes;  // every program leaves these, empty
  int signal = 0;

  process::Exit run(const process::Command& command, const process::Listener& listener) override {
    const std::string tool = command.executable.substr(command.executable.rfind('/') + 1);
    started.push_back(tool);
    const Behaviour& behaviour = tools[tool];
    for (const std::string& path : behaviour.writes) files[command.cwd + "/" + path] = "content";
    for (const std::string& path : empty_writes) files[command.cwd + "/" + path] = "";
    for (const std::string& line : behaviour.stdout_lines) listener.line(process::Stream::Stdout, line);
    for (const std::string& line : behaviour.stderr_lines) listener.line(process::Stream::Stderr, line);
    return behaviour.exit;
  }
  int interrupted() override { return signal; }
  int64_t file_size(const std::string& path) override {
    return files.contains(path) ? static_cast<int64_t>(files[path].size()) : -1;
  }
  bool is_cut_off(const std::string& path) override {
    return files.contains(path) && driver::is_cut_off(path, files[path]);
  }
  std::optional<std::string> read_file(const std::string& path) override {
    if (!files.contains(path)) return std::nullopt;
    return files[path];
  }
  Status write_file(const std::string& path, std::string_view text, bool) override {
    files[path] = std::string(text);
    return Status::ok();
  }
  std::vector<std::string> matching(const std::string& pattern) override {
    // Patterns of the runner: a fixed folder, one * in the last component.
    const size_t star = pattern.find('*');
    const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
    std::set<std::string> found;
    for (const auto& [path, _] : files) {
      if (!path.starts_with(head)) continue;
      const std::string name = path.substr(0, path.find('/', star));
      if (name.ends_with(tail)) found.insert(name);
    }
    return {found.begin(), found.end()};
  }
  int64_t free_bytes(const std::string&) override { return free; }
  int64_t free = int64_t{1} << 40;
  Status copy_file(const std::string& from, const std::string& to) override {
    if (!files.contains(from)) return error(Code::EFIL001, from, std::string("no such file"));
    files[to] = files[from];
    return Status::ok();
  }
  void remove_file(const std::string& path) override { files.erase(path); }
  Status make_parent_folder(const std::string&) override { return Status::ok(); }
  LineWriter open_log(const std::string& path) override {
    return [this, path](std::string_view line) { files[path] += std::string(line) + "\n"; };
  }
};

}  // namespace ncc::driver
