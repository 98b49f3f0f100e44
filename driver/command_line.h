// The top of the command line: globals, subcommand, dispatch.
#pragma once
#include <string>
#include <vector>

namespace ncc::driver {

/// All words after the program's name. Returns the exit status; does not return when the subcommand is a
/// sibling tool and it could be started.
int run_command_line(const std::vector<std::string>& args);

}  // namespace ncc::driver
