// hlo-opt (job Frontend): Penguin at tensor level in; BIR, tensor map and I/O description out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/files/files.h"
#include "common/tool/tool_main.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/penguin/io.h"
#include "tools/hlo-opt/io_description.h"
#include "tools/hlo-opt/pipeline.h"

namespace ncc::hlo_opt {
namespace {

struct Options {
  std::string input, output_dir = ".", target = "trn2", print_after, bir_format = "pb";
  std::vector<std::string> passes, skip;
  int opt_level = 2;
  bool list_passes = false;
};

Status write_outputs(const Compilation& c, const Options& options) {
  const std::filesystem::path dir(options.output_dir);
  std::error_code failed;
  std::filesystem::create_directories(dir / "sg00", failed);
  if (failed) return error(Code::EFIL002, (dir / "sg00").string(), failed.message());
  NCC_TRY(penguin::write_module(*c.module, (dir / "penguin.tile.pb").string()));
  if (!c.bir) return Status::ok();
  NCC_TRY(bir::write_module(*c.bir, (dir / "sg00" / ("bir." + options.bir_format)).string()));
  NCC_TRY(write_file((dir / "sg00" / "io.json").string(), io_json(*c.module)));
  NCC_TRY(write_file((dir / "tensor_map.json").string(), tensor_map_json(*c.module)));
  return write_file((dir / "io_transposes.json").string(), "[]\n");
}

Status run(const Options& options) {
  if (options.list_passes) {
    for (const PassInfo& pass : all_passes()) fmt::print("{:<28} {}\n", pass.name, pass.summary);
    return Status::ok();
  }
  if (options.input.empty()) return error(Code::EARG001, "--input is required");
  Compilation c;
  c.arch = find_arch(options.target);
  if (c.arch == nullptr) return error(Code::EARG001, fmt::format("unknown target '{}'", options.target));
  c.opt_level = options.opt_level;
  std::vector<const PassInfo*> order;
  const auto named = [](const std::string& name) -> Result<const PassInfo*> {
    if (const PassInfo* pass = find_pass(name)) return pass;
    return error(Code::EARG001, fmt::format("unknown pass '{}' (--list-passes shows them)", name));
  };
  for (const std::string& name : options.skip) NCC_TRY(named(name).status());
  if (options.passes.empty())
    for (const PassInfo& pass : all_passes()) order.push_back(&pass);
  for (const std::string& name : options.passes) {
    NCC_ASSIGN(const PassInfo* pass, named(name));
    order.push_back(pass);
  }
  std::erase_if(order, [&](const PassInfo* pass) {
    return std::find(options.skip.begin(), options.skip.end(), pass->name) != options.skip.end();
  });

  NCC_ASSIGN(penguin::Module module, penguin::read_module(options.input));
  c.module = std::make_unique<penguin::Module>(std::move(module));
  const std::filesystem::path constants = std::filesystem::path(options.input).replace_filename("constants.bin");
  if (std::filesystem::exists(constants)) {
    NCC_ASSIGN(c.constants, MappedFile::open(constants.string()));
  }
  for (const PassInfo* pass : order) {
    try {
      NCC_TRY(pass->run(c));
    } catch (const InternalError& failure) {
      return error(Code::EINT901, fmt::format("pass {}", pass->name), std::string(failure.what()));
    }
    if (options.print_after == pass->name || options.print_after == "all")
      fmt::print("; after {}\n{}", pass->name, penguin::to_text(*c.module));
  }
  return write_outputs(c, options);
}

}  // namespace
}  // namespace ncc::hlo_opt

int main(int argc, char** argv) {
  using namespace ncc;
  hlo_opt::Options options;
  return tool_main(
      {"hlo-opt", "optimises Penguin, tiles it for the machine and emits BIR",
       "Examples:\n  hlo-opt --input wd/penguin.pb --output-dir wd --target trn2\n  hlo-opt --input "
       "wd/penguin.pb --print-after layout\n"},
      argc, argv,
      [&](CLI::App& app) {
        app.add_option("--input", options.input, "Penguin module at tensor level (.pb or .txt)");
        app.add_option("--output-dir", options.output_dir,
                       "work directory: sg00/bir.pb, sg00/io.json, tensor_map.json, io_transposes.json");
        app.add_option("--target", options.target, "trn1 or trn2");
        app.add_option("-O", options.opt_level, "optimisation level");
        app.add_option("--passes", options.passes, "passes to run, in order (default: all)")->delimiter(',');
        app.add_option("--skip-pass", options.skip, "passes to leave out")->delimiter(',');
        app.add_option("--print-after", options.print_after,
                       "print the Penguin text after this pass ('all': after each)");
        app.add_option("--bir-format", options.bir_format, "pb or json")
            ->check(CLI::IsMember({"pb", "json"}));
        app.add_flag("--list-passes", options.list_passes, "list the passes and stop");
      },
      [&] { return hlo_opt::run(options); });
}
