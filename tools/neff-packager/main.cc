// neff-packager (job Kelper): the work folder in, one NEFF out.
#include <CLI/CLI.hpp>

#include "common/tool/tool_main.h"
#include "tools/neff-packager/pack.h"

int main(int argc, char** argv) {
  ncc::packager::PackOptions options;
  bool plain = false;
  const auto declare = [&](CLI::App& app) {
    app.add_option("--work-dir", options.work_dir, "folder with sg00/, constants.bin, hlo_metrics.json")
        ->capture_default_str();
    app.add_option("--output", options.output, "the NEFF to write")->required();
    app.add_option("--name", options.name, "graph name in the header")->capture_default_str();
    app.add_flag("--no-compression", plain, "a plain tar, also with few constants");
  };
  const auto run = [&] {
    options.compress = !plain;
    return ncc::packager::pack(options);
  };
  return ncc::tool_main({"neff-packager", "packs engine programs, constants and interface into a NEFF",
                         "  neff-packager --work-dir . --output model.neff\n"},
                        argc, argv, declare, run);
}
