// neuron-sim (neuron-driver run): executes a program at any level; a NEFF also in simulated time.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>

#include "common/tool/tool_main.h"
#include "tools/neuron-sim/simulate.h"

int main(int argc, char** argv) {
  ncc::sim::SimOptions options;
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto declare = [&](CLI::App& app) {
    app.add_option("file", options.file, "the program")->required();
    app.add_option("--input", options.input_files, "a parameter as .npy; repeat in order")
        ->expected(1)
        ->take_all();
    app.add_option("--inputs", options.input_dir, "folder with the parameters 000.npy, 001.npy, …");
    app.add_option("--output-dir", options.output_dir,
                   "where results are written as NNN.npy with manifest.json");
    app.add_option("--expect", options.expect_dir, "folder with the expected results");
    app.add_option("--rtol", options.tolerance.rtol, "relative tolerance (default: by the result's type)");
    app.add_option("--atol", options.tolerance.atol, "absolute tolerance (default: by the result's type)");
    app.add_option("--report", options.report, "write the run's figures as JSON");
    app.add_option("--trace", options.trace, "write a Chrome trace");
    app.add_flag("--functional", options.functional, "skip the checks for races and unwritten memory");
    app.add_flag("--timing-only", options.timing_only, "simulate time without data; needs no inputs");
    app.add_option("--execute-repetition", options.repetitions,
                   "execute a NEFF's program this many times (default: as the NEFF says)")
        ->check(CLI::PositiveNumber);
    app.add_option("--threads", options.threads, "threads for large instructions")->check(CLI::Range(1, 256));
  };
  const auto run = [&] {
    std::string summary;
    const ncc::Status status = ncc::sim::simulate(options, summary);
    std::fwrite(summary.data(), 1, summary.size(), stdout);
    return status;
  };
  return ncc::tool_main(
      {"neuron-sim", "executes a compiled program on the simulated NeuronCore",
       "  neuron-sim model.neff --inputs inputs/ --expect expected/ --rtol 1e-4 --report report.json\n"
       "  neuron-sim model.neff --timing-only\n"},
      argc, argv, declare, run);
}
