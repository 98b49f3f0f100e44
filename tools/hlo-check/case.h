// What hlo-check runs and what it reports. A program is a module with inputs, plus the checks its source asks
// for.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/compare/compare.h"
#include "ir-formats/hlo/module.h"

namespace ncc::check {

enum class Level : uint8_t { Golden, Penguin, Bir, Sim };
std::optional<Level> level_from_name(std::string_view name);
std::string_view name(Level level);

/// One comparison. `actual` and `expected_result` are leaves of the program's result.
struct Check {
  int64_t actual = 0;
  std::optional<int64_t> expected_result;  // compared with another result
  hlo::Literal expected;                   // else with this value
  int64_t sample_stride = 0;               // > 0: `expected` holds every stride-th element of the flat result
  Rule rule;
  bool transcendental = false;  // an f32 transcendental op feeds the checked value
};

/// What a program is measured by.
enum class Measure : uint8_t {
  Checks,     // its results against expected values
  ReadsBack,  // it has none: written and read back it is the same module, and it evaluates if it needs no
              // inputs
  Time,       // a benchmark without expected values: compiled and timed, nothing to do at level golden
};

struct Program {
  Measure measure = Measure::Checks;
  bool is_grid = false;     // runs several processes, or probes: on the interpreter only
  std::string label;        // distinguishes the modules of a split file
  std::string module_path;  // file that the compiler reads; empty: `module` is written to one
  std::string inputs_dir;   // npy files on disk; empty: `inputs` are written to one
  std::shared_ptr<hlo::Module> module;
  std::vector<hlo::Literal> inputs;
  std::vector<Check> checks;
};

enum class Verdict : uint8_t { Pass, Mismatch, Unsupported, Error, Crash, Timeout, Skipped };
std::string_view name(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::Pass;
  std::string diagnostic;  // one line
  double max_abs = 0, max_rel = 0;
  double compile_s = 0, sim_s = 0, sim_ns = 0;
};

struct Settings {
  Level level = Level::Golden;
  std::string target = "trn2";
  std::string optlevel;  // "" = the driver's default
  std::string driver;    // path of neuron-driver
  int jobs = 1;
  double timeout_s = 0;
  std::string tsv;
  std::string form;  // of a corpus case's model: pb, txt, mlir, all; "" = the first that is there
  bool keep = false;
};

}  // namespace ncc::check
