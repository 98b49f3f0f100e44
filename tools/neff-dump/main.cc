// neff-dump (neuron-driver neff-info): header, members, interface, programs and disassembly of a NEFF.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/tool/tool_main.h"
#include "tools/neff-dump/dump.h"

int main(int argc, char** argv) {
  ncc::neff_dump::DumpOptions options;
  const auto declare = [&](CLI::App& app) {
    app.add_option("file", options.path, "the NEFF")->required();
    app.add_flag("--disassemble", options.disassemble, "list every instruction and DMA descriptor");
    app.add_flag("--json", options.json, "print JSON");
  };
  const auto run = [&]() -> ncc::Status {
    NCC_ASSIGN(const std::string text, ncc::neff_dump::dump(options));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return ncc::Status::ok();
  };
  return ncc::tool_main({"neff-dump", "shows what a NEFF holds", "  neff-dump --disassemble model.neff\n"},
                        argc, argv, declare, run);
}
