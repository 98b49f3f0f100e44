#include "driver/subgraphs.h"

#include <algorithm>

#include "driver/cache/digest.h"

namespace ncc::driver {
namespace {

/// The folders "<prefix><digits>" in a folder, by name. "sgLnk" is none.
std::vector<std::string> numbered(Host& host, const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  for (const std::string& path : host.matching(folder + "/" + prefix + "*")) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool has_number =
        name.size() > prefix.size() && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()),
                                                   name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (has_number) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> find_subgraphs(Host& host, const std::string& work_dir) {
  std::vector<std::string> found = numbered(host, work_dir, "sg");
  for (const std::string& core : numbered(host, work_dir, "nc")) {
    const std::vector<std::string> graphs = numbered(host, work_dir + "/" + core, "sg");
    if (graphs.empty()) return error(Code::EDRV080, core);
    for (const std::string& graph : graphs) found.push_back(core + "/" + graph);
  }
  return found;
}

std::string EqualSubgraphs::key(const Job& job, const std::string& subgraph) {
  std::string text = job.name + "\n";
  const Job one = for_subgraph(job, subgraph);
  for (const std::string& word : job.args) text += fmt::format("{}:{}\n", word.size(), word);
  std::vector<std::string> reads = existing(one.reads);
  for (std::string& path : existing(one.may_read)) reads.push_back(std::move(path));
  for (const std::string& path : reads) {
    const std::optional<std::string> bytes =
        host_.read_file(path.starts_with('/') ? path : work_dir_ + "/" + path);
    const std::string name = path.starts_with(subgraph + "/") ? path.substr(subgraph.size()) : path;
    text += fmt::format("{} {}\n", name, bytes ? cache::digest(*bytes) : "none");
  }
  return text;
}

std::optional<std::string> EqualSubgraphs::find(const Job& job, const std::string& subgraph) {
  if (!job.cacheable || done_.empty()) return std::nullopt;
  const auto found = done_.find(key(job, subgraph));
  return found == done_.end() ? std::nullopt : std::optional(found->second);
}

void EqualSubgraphs::add(const Job& job, const std::string& subgraph) {
  if (job.cacheable) done_.emplace(key(job, subgraph), subgraph);
}

Status EqualSubgraphs::share(const Job& job, const std::string& from, const std::string& to) {
  const Job done = for_subgraph(job, from);
  std::vector<std::string> paths = existing(done.writes);
  for (std::string& path : existing(done.may_write)) paths.push_back(std::move(path));
  for (const std::string& path : paths)
    if (path.starts_with(from + "/"))
      NCC_TRY(host_.copy_file(work_dir_ + "/" + path, work_dir_ + "/" + to + path.substr(from.size())));
  return Status::ok();
}

std::vector<std::string> EqualSubgraphs::existing(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const std::string full = path.starts_with('/') ? path : work_dir_ + "/" + path;
    if (path.find('*') == std::string::npos) {
      if (host_.file_size(full) >= 0) found.push_back(path);
      continue;
    }
    for (const std::string& match : host_.matching(full)) found.push_back(match.substr(work_dir_.size() + 1));
  }
  return found;
}

}  // namespace ncc::driver
