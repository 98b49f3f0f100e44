#include "driver/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/diag/suggest.h"
#include "common/tool/report.h"
#include "driver/compile.h"
#include "driver/documents.h"
#include "driver/options.h"
#include "driver/tool_path.h"
#include "driver/version.h"

namespace ncc::driver {
namespace {

struct Subcommand {
  std::string name;
  std::string tool;
  std::string leading;
  bool shown;
  std::string summary;
};

const std::vector<Subcommand>& all_subcommands() {
  static const std::vector<Subcommand> rows = {
#define SUBCOMMAND(name, tool, leading, shown, summary) {name, tool, leading, shown, summary},
#include "driver/subcommands.def"
  };
  return rows;
}

void print_help(int level) {
  fmt::print("usage: neuron-driver [options] <subcommand> [arguments]\n\nsubcommands:\n");
  for (const Subcommand& row : all_subcommands())
    if (row.shown) fmt::print("  {:<16} {}\n", row.name, row.summary);
  fmt::print(
      "\nexamples:\n"
      "  neuron-driver compile model.hlo.pb --target trn2 -o model.neff\n"
      "  neuron-driver run model.neff --inputs inputs/ --expect expected/ --report report.json\n"
      "  neuron-driver compile model.mlir --dry-run\n"
      "\n'neuron-driver <subcommand> --help' tells the options of the others. Options of compile:\n{}",
      options_help(level));
}

/// True when the word is a spelling of an option that takes the next word as its value.
bool takes_next_word(const std::string& word) {
  for (const OptionRow& option : all_options()) {
    const std::vector<std::string> names = option.spellings();
    if (std::find(names.begin(), names.end(), word) != names.end()) return option.takes_value();
  }
  return false;
}

/// The position of the subcommand: the first word that is neither an option nor an option's value.
size_t find_subcommand(const std::vector<std::string>& args) {
  size_t at = 0;
  while (at < args.size() && args[at].starts_with('-')) at += takes_next_word(args[at]) ? 2 : 1;
  return std::min(at, args.size());
}

/// Becomes the sibling tool. Globals before the subcommand are the driver's own; --tool is taken out of the
/// rest.
int become_tool(const Subcommand& subcommand, const std::vector<std::string>& args, size_t position) {
  std::string path;
  std::vector<std::string> rest;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i == position) continue;
    std::string override_text;
    if (args[i] == "--tool" && i + 1 < args.size())
      override_text = args[++i];
    else if (args[i].starts_with("--tool="))
      override_text = args[i].substr(7);
    else if (i > position)
      rest.push_back(args[i]);
    if (override_text.starts_with(subcommand.tool + "="))
      path = override_text.substr(subcommand.tool.size() + 1);
  }
  if (path.empty()) path = find_tool(subcommand.tool);
  if (path.empty())
    return report_failure(
        error(Code::EDRV001, subcommand.tool, subcommand.name, searched_folders(), subcommand.tool));
  if (!subcommand.leading.empty()) {
    // list-operators: the one framework there is needs no telling.
    std::erase_if(rest, [](const std::string& word) {
      return word == "--framework" || word == "XLA" || word == "--framework=XLA";
    });
    rest.insert(rest.begin(), subcommand.leading);
  }
  std::vector<char*> argv = {path.data()};
  for (std::string& word : rest) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  return report_failure(error(Code::EDRV002, path, subcommand.name, std::string(std::strerror(errno))));
}

std::vector<std::string> shown_subcommands() {
  std::vector<std::string> names;
  for (const Subcommand& row : all_subcommands())
    if (row.shown) names.push_back(row.name);
  return names;
}

/// The subcommands that are the driver's own.
int run_own(const std::string& name, std::vector<std::string> args, const std::string& launch_dir) {
  if (name == "compile") return run_compile(args, launch_dir);
  const std::string topic = args.empty() ? "" : args.front();
  if (topic == "--help" || topic == "-h") {
    for (const Subcommand& row : all_subcommands())
      if (row.name == name) fmt::print("usage: neuron-driver {} ...\n{}\n", name, row.summary);
    return 0;
  }
  if (name == "completion") return fmt::print("{}", bash_completion(shown_subcommands())), 0;
  if (name == "docs") {
    const std::string text = document(topic);
    if (!text.empty()) return std::fputs(text.c_str(), stdout), 0;
    return report_failure(
        error(Code::EDRV010, std::string("document"), topic, closest_name(topic, document_topics())));
  }
  if (topic != "explain")
    return report_failure(error(Code::EDRV010, std::string("cache command"), topic, std::string("explain")));
  args.erase(args.begin());
  return run_cache_explain(args, launch_dir);
}

}  // namespace

int run_command_line(const std::vector<std::string>& args) {
  const size_t position = find_subcommand(args);
  const auto given = [&](const char* word) {
    return std::find(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(position), word) !=
           args.begin() + static_cast<std::ptrdiff_t>(position);
  };
  if (given("--version") || given("-V")) {
    fmt::print("{}", version_text());
    return 0;
  }
  const bool is_compile = position < args.size() && args[position] == "compile";
  if (is_compile || position == args.size()) {
    const auto anywhere = [&](const char* word) {
      return std::find(args.begin(), args.end(), word) != args.end();
    };
    if (anywhere("--help-hidden-list")) return print_help(2), 0;
    if (anywhere("--help-hidden")) return print_help(1), 0;
    if (anywhere("--help") || anywhere("-h")) return print_help(0), 0;
  }
  if (position == args.size())
    return report_failure(error(Code::EARG001, std::string("no subcommand is given")));

  std::vector<std::string> names;
  for (const Subcommand& row : all_subcommands()) {
    names.push_back(row.name);
    if (row.name != args[position]) continue;
    if (!row.tool.empty()) return become_tool(row, args, position);
    std::vector<std::string> rest = args;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
    std::error_code failure;
    const std::string launch_dir = std::filesystem::current_path(failure).string();
    if (failure) return report_failure(error(Code::EFIL001, std::string("."), failure.message()));
    return run_own(row.name, rest, launch_dir);
  }
  return report_failure(
      error(Code::EDRV010, std::string("subcommand"), args[position], closest_name(args[position], names)));
}

}  // namespace ncc::driver
