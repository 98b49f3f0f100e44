#include "tools/neuron-sim/simulate.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/files/files.h"
#include "tools/neuron-sim/levels.h"

namespace ncc::sim {
namespace {

Status check_options(const SimOptions& options) {
  if (options.functional && options.timing_only)
    return error(Code::EARG001, "--functional and --timing-only exclude each other");
  if (!options.input_dir.empty() && !options.input_files.empty())
    return error(Code::EARG001, "give the inputs by --input or by --inputs, not both");
  if (options.timing_only && (!options.expect_dir.empty() || !options.output_dir.empty()))
    return error(Code::EARG001, "--timing-only moves no data: there is nothing to write or compare");
  return Status::ok();
}

Result<Inputs> read_inputs(const SimOptions& options) {
  if (options.timing_only) return Inputs{};
  if (!options.input_dir.empty()) return read_array_folder(options.input_dir);
  Inputs inputs;
  for (const std::string& path : options.input_files) {
    NCC_ASSIGN(Array array, read_npy(path));
    inputs.push_back({"", std::move(array)});
  }
  return inputs;
}

Status write_outputs(const SimOptions& options, const Outcome& outcome) {
  if (options.output_dir.empty()) return Status::ok();
  if (::mkdir(options.output_dir.c_str(), 0777) != 0 && errno != EEXIST)
    return error(Code::EFIL002, options.output_dir, std::string(std::strerror(errno)));
  return write_array_folder(options.output_dir, outcome.outputs);
}

// All outputs are compared; the first mismatch is the answer.
Status compare_outputs(const SimOptions& options, const Outcome& outcome) {
  NCC_ASSIGN(const std::vector<NamedArray> expected, read_array_folder(options.expect_dir));
  if (expected.size() != outcome.outputs.size())
    return error(Code::ERUN003, fmt::format("'{}' holds {} arrays, the program has {} results",
                                            options.expect_dir, expected.size(), outcome.outputs.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    Tolerance tolerance = default_tolerance(outcome.outputs[i].array.dtype);
    if (options.tolerance.rtol >= 0) tolerance.rtol = options.tolerance.rtol;
    if (options.tolerance.atol >= 0) tolerance.atol = options.tolerance.atol;
    NCC_TRY(
        compare_output(i, outcome.outputs[i].name, outcome.outputs[i].array, expected[i].array, tolerance));
  }
  return Status::ok();
}

Status write_reports(const SimOptions& options, const RunSummary& summary) {
  if (!options.report.empty()) NCC_TRY(write_file(options.report, report_json(summary)));
  if (!options.trace.empty()) NCC_TRY(write_file(options.trace, chrome_trace(summary)));
  return Status::ok();
}

}  // namespace

Status simulate(const SimOptions& options, std::string& summary) {
  NCC_TRY(check_options(options));
  NCC_ASSIGN(const Level* level, find_level(options.file));
  NCC_ASSIGN(const Inputs inputs, read_inputs(options));
  NCC_ASSIGN(const Outcome outcome, level->run(options, inputs));
  if (!outcome.timed && !(options.report.empty() && options.trace.empty()))
    return error(Code::ERUN003, fmt::format("a program at level {} has no time to report", level->name));
  NCC_TRY(write_outputs(options, outcome));
  RunSummary run;
  if (outcome.timed) {
    run.program = &outcome.timed->program;
    run.run = &outcome.timed->report;
    run.arch = outcome.timed->arch;
    run.roofline_ns = outcome.timed->roofline_ns;
    run.repetitions = outcome.timed->repetitions;
    run.total_ns = outcome.timed->total_ns;
    NCC_TRY(write_reports(options, run));
  }
  const Status compared = options.expect_dir.empty() ? Status::ok() : compare_outputs(options, outcome);
  run.compared = !options.expect_dir.empty() && compared.is_ok();
  if (outcome.timed)
    summary = summary_text(run);
  else if (run.compared)
    summary = "outputs agree with the expected values\n";
  return compared;
}

}  // namespace ncc::sim
