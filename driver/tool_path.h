// Where tools are: <driver's folder>/private first, so that a site can override one, then <driver's folder>.
// PATH is not searched. Source: spec/driver.md §4.2.
#pragma once
#include <string>

namespace ncc::driver {

/// The folder of the running executable.
std::string own_folder();

/// The path of a tool, or "" when neither folder has a file of that name.
std::string find_tool(const std::string& name);

/// For messages: "DIR/private or DIR".
std::string searched_folders();

}  // namespace ncc::driver
