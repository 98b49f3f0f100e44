// `neuron-driver compile`: options -> registry -> plan -> run -> publish.
#pragma once
#include <string>
#include <vector>

namespace ncc::driver {

/// The whole subcommand; `args` are all words of the command line except the subcommand itself. Returns the
/// exit status.
int run_compile(const std::vector<std::string>& args, const std::string& launch_dir);

/// `neuron-driver cache explain`: says whether this compile would be answered by the cache, and why not.
int run_cache_explain(const std::vector<std::string>& args, const std::string& launch_dir);

}  // namespace ncc::driver
