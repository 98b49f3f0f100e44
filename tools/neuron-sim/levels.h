// The executable levels behind one command: each turns input arrays into result arrays, and may time itself.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/npy/array_folder.h"
#include "tools/neuron-sim/options.h"
#include "tools/neuron-sim/report.h"

namespace ncc::sim {

/// A timed run, with what its report refers to.
struct TimedRun {
  isa::Program program;
  machine::RunReport report;
  const ArchModel* arch = nullptr;
  std::optional<double> roofline_ns;
  int64_t repetitions = 1;  // the report is of the last one
  int64_t total_ns = 0;     // of all of them
};

struct Outcome {
  std::vector<NamedArray> outputs;  // empty when only timed
  std::unique_ptr<TimedRun> timed;  // null when the level has no time
};

using Inputs = std::vector<NamedArray>;

struct Level {
  std::string_view name;
  bool (*recognises)(std::string_view first_bytes, const std::string& path);
  Result<Outcome> (*run)(const SimOptions& options, const Inputs& inputs);
};

/// The level of a file by its content. EFIL003 when it is none, ERUN003 when this build does not execute it.
Result<const Level*> find_level(const std::string& path);

/// Executes the first subgraph of a NEFF on the machine. ENEF001, EISA001, ERUN001, ESIM*.
Result<Outcome> run_neff(const SimOptions& options, const Inputs& inputs);
/// Runs Penguin at tensor level, with constants.bin beside the file. ERUN001, EPEN001.
Result<Outcome> run_penguin(const SimOptions& options, const Inputs& inputs);
/// Runs BIR in program order on the machine's semantics; io.json stands beside the file, constants.bin there
/// or one folder up.
Result<Outcome> run_bir(const SimOptions& options, const Inputs& inputs);
/// Runs an HLO proto, HLO text or StableHLO module on the reference interpreter. ERUN001, EVRF*, EHLO001,
/// EMLR001.
Result<Outcome> run_hlo(const SimOptions& options, const Inputs& inputs);

}  // namespace ncc::sim
