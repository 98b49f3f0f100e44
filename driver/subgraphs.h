// The subgraphs of a work folder: which there are, and which of them are equal. Source: spec/driver.md §3,
// §4.5.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/host.h"
#include "driver/plan.h"

namespace ncc::driver {

/// Folders sgNN, or ncNN/sgNN where every core has graphs of its own, relative to the work folder, in order;
/// none: empty. EDRV080 when an ncNN folder holds no subgraph.
Result<std::vector<std::string>> find_subgraphs(Host& host, const std::string& work_dir);

/// Modules that repeat are compiled once: remembers what a job made of which inputs.
class EqualSubgraphs {
 public:
  EqualSubgraphs(Host& host, std::string work_dir) : host_(host), work_dir_(std::move(work_dir)) {}

  /// An earlier subgraph for which the job was given the same arguments and the same bytes. `job` is the
  /// template, with {sg} in it. nullopt for jobs whose results depend on more than that.
  std::optional<std::string> find(const Job& job, const std::string& subgraph);
  /// Copies what the job left for `from` to where it would have left it for `to`.
  Status share(const Job& job, const std::string& from, const std::string& to);
  /// The job has ended well for this subgraph.
  void add(const Job& job, const std::string& subgraph);

 private:
  std::string key(const Job& job, const std::string& subgraph);
  std::vector<std::string> existing(const std::vector<std::string>& paths);

  Host& host_;
  const std::string work_dir_;
  std::map<std::string, std::string> done_;  // key -> subgraph
};

}  // namespace ncc::driver
