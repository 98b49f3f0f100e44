// walrus_driver: BIR in; engine streams, descriptors, def.json and metrics out.
#include <CLI/CLI.hpp>

#include "common/tool/tool_main.h"
#include "tools/walrus_driver/driver.h"

int main(int argc, char** argv) {
  ncc::walrus::Options options;
  options.announce = [](std::string_view pass) {
    ncc::tool_logger().write(ncc::log::Level::Info, "pass", fmt::format("Running {}", pass));
  };
  const ncc::ToolInfo tool{
      "walrus_driver", "Schedules, allocates and encodes BIR.",
      "Examples:\n"
      "  walrus_driver --input sg00/bir.pb --output-dir sg00 --target trn2\n"
      "  walrus_driver --input bir.json --output-dir out --print-after unroll,post_sched\n"};
  return ncc::tool_main(
      tool, argc, argv,
      [&](CLI::App& app) {
        app.add_option("--input,-i", options.input, "BIR module (.json, else protobuf)");
        app.add_option("--output-dir,-o", options.output_dir, "existing folder for the results");
        app.add_option("--target", options.target, "trn1 or trn2; default: what the module says");
        app.add_option("--walrus-passes,--pass", options.passes,
                       "comma-separated pass list instead of the default");
        app.add_option("--optlevel", options.optlevel, "0..3: the pass list of pipelines/passes.yaml");
        app.add_option("--print-after", options.print_after,
                       "write the BIR after these passes (or 'all') as JSON");
        app.add_option("--verify-inputs", options.verify_inputs,
                       "folder of inputs: execute the BIR after every pass and compare with the goldens");
        app.add_option("--verify-goldens", options.verify_goldens, "folder of expected results");
        app.add_option("--max-instructions", options.max_instructions, "refuse to unroll beyond this many");
        app.add_flag("--list-passes", options.list_passes, "print all passes and what they do");
        app.add_flag("--dry-run", options.dry_run, "print the pass list and stop");
      },
      [&] { return ncc::walrus::run(options); });
}
