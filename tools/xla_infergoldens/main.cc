// xla_infergoldens: runs an HLO module on the reference interpreter and writes its results.
#include <CLI/CLI.hpp>

#include "common/tool/tool_main.h"
#include "tools/xla_infergoldens/goldens.h"

int main(int argc, char** argv) {
  ncc::goldens::Options options;
  const auto declare = [&](CLI::App& app) {
    app.add_option("--hlo-module", options.hlo_module, "HLO proto, HLO text or StableHLO text")->required();
    app.add_option(
        "--inputs", options.inputs,
        "folder with the parameters 000.npy, 001.npy, …; without it inputs are made up and written");
    app.add_option("--output-dir", options.output_dir, "where NNN.npy and manifest.json are written")
        ->required();
    app.add_flag("--all-values", options.all_values, "also write every value of the entry computation");
  };
  return ncc::tool_main({"xla_infergoldens", "computes the expected results of an HLO module",
                         "Example: xla_infergoldens --hlo-module hlo_module.pb --inputs inputs --output-dir "
                         "goldens --all-values"},
                        argc, argv, declare, [&] { return ncc::goldens::make_goldens(options); });
}
