#include "tools/hlo-check/levels.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "common/process/process.h"
#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/write.h"
#include "tools/hlo-check/compare.h"

namespace ncc::check {
namespace {

namespace fs = std::filesystem;
using hlo::Literal;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  return text;
}

void run_golden(const Program& program, Outcome& outcome) {
  const auto start = std::chrono::steady_clock::now();
  Result<Literal> result = hlo::interpret(*program.module, program.inputs);
  outcome.sim_s = seconds_since(start);
  if (!result.is_ok()) {
    const double sim_s = outcome.sim_s;
    outcome = outcome_of(result.status());
    outcome.sim_s = sim_s;
    return;
  }
  std::vector<Literal> leaves;
  hlo::flatten(result.value(), leaves);
  compare_results(program, leaves, Level::Golden, outcome);
}

// How far the driver compiles and which file the level executes.
struct Stop {
  Level level;
  const char* to_job;  // nullptr: everything
  const char* file;    // within the work directory
};
constexpr Stop kStops[] = {
    {Level::Penguin, "HLOToTensorizer", "penguin.pb"},
    {Level::Bir, "Frontend", "sg00/bir.pb"},
    {Level::Sim, nullptr, nullptr},
};

// One child whose output is searched for its diagnostic.
struct ChildRun {
  process::Exit exit;
  std::string diagnostic;
};

ChildRun run_child(const std::string& executable, std::vector<std::string> args) {
  process::SignalGate gate;
  ChildRun child;
  std::string last;
  child.exit = process::run({executable, std::move(args), "", 0}, gate,
                            {[&](process::Stream, std::string_view line) {
                               if (child.diagnostic.empty() && line.find("[ERROR]") != std::string_view::npos)
                                 child.diagnostic = std::string(line);
                               if (!line.empty()) last = std::string(line);
                             },
                             {}});
  if (child.diagnostic.empty()) child.diagnostic = last;
  return child;
}

// False when the child failed; the outcome then says how.
bool succeeded(const ChildRun& child, const std::string& what, Outcome& outcome) {
  if (child.exit.ok()) return true;
  outcome.diagnostic = one_line(child.diagnostic);
  outcome.verdict = Verdict::Error;
  if (child.exit.kind == process::ExitKind::Signaled) {
    outcome.verdict = Verdict::Crash;
    outcome.diagnostic =
        fmt::format("{} died of {}; {}", what, process::signal_name(child.exit.value), outcome.diagnostic);
  } else if (child.diagnostic.find("NCC_F1") != std::string::npos) {
    outcome.verdict = Verdict::Crash;  // the driver's report of a job that died
  } else if (child.diagnostic.find("NCC_EVRF001") != std::string::npos ||
             child.diagnostic.find("NCC_EVRF002") != std::string::npos) {
    outcome.verdict = Verdict::Unsupported;
  } else if (child.exit.kind == process::ExitKind::NotStarted) {
    outcome.diagnostic = fmt::format("cannot start {}: {}", what, child.exit.why);
  }
  return false;
}

Result<std::string> module_on_disk(const Program& program, const std::string& dir) {
  if (!program.module_path.empty()) return program.module_path;
  NCC_ASSIGN(const std::string bytes, hlo::write_hlo_proto(*program.module));
  const std::string path = dir + "/model.hlo.pb";
  NCC_TRY(write_file(path, bytes));
  return path;
}

Result<std::string> inputs_on_disk(const Program& program, const std::string& dir) {
  if (!program.inputs_dir.empty()) return program.inputs_dir;
  const std::string inputs = dir + "/inputs";
  std::error_code ignored;
  fs::create_directories(inputs, ignored);
  for (size_t i = 0; i < program.inputs.size(); ++i)
    NCC_TRY(hlo::write_literal(inputs + "/" + numbered_npy(i), program.inputs[i]));
  return inputs;
}

Result<std::vector<Literal>> read_results(const Program& program, const std::string& dir) {
  std::vector<Literal> results;
  const hlo::Shape& root = program.module->entry()->root()->shape;
  const std::vector<hlo::Shape> leaves = root.is_tuple() ? root.elements : std::vector<hlo::Shape>{root};
  for (size_t i = 0; i < leaves.size(); ++i) {
    NCC_ASSIGN(Literal value, hlo::read_literal(dir + "/" + numbered_npy(i), leaves[i].dtype));
    results.push_back(std::move(value));
  }
  return results;
}

// Simulated time of a `run --report` file; 0 when it has none.
double reported_ns(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.is_ok()) return 0;
  const nlohmann::json report = nlohmann::json::parse(text.value(), nullptr, false);
  if (!report.is_object() || !report.contains("time_ns") || !report["time_ns"].is_number()) return 0;
  return report["time_ns"].get<double>();
}

void run_compiled(const Program& program, const Settings& settings, const std::string& dir,
                  Outcome& outcome) {
  const Stop& stop = kStops[static_cast<size_t>(settings.level) - 1];
  const std::string work = dir + "/work", neff = dir + "/model.neff", results = dir + "/results";
  const Result<std::string> model = module_on_disk(program, dir);
  if (!model.is_ok()) {
    outcome = outcome_of(model.status());
    return;
  }
  std::vector<std::string> compile = {"compile",    model.value(), "--target", settings.target,
                                      "--temp-dir", work,          "-o",       neff};
  if (!settings.optlevel.empty()) compile.push_back("-O" + settings.optlevel);
  if (stop.to_job) compile.insert(compile.end(), {"--to-job", stop.to_job});
  auto start = std::chrono::steady_clock::now();
  const ChildRun compiled = run_child(settings.driver, compile);
  outcome.compile_s = seconds_since(start);
  if (!succeeded(compiled, "the compiler", outcome)) return;
  const std::string report = dir + "/report.json";
  const std::string simulator = fs::path(settings.driver).parent_path() / "neuron-sim";
  if (program.checks.empty()) {  // nothing to compare: it compiles, and its time is simulated
    if (stop.file) return;
    const ChildRun timed = run_child(simulator, {neff, "--timing-only", "--report", report});
    if (succeeded(timed, "the simulator", outcome)) outcome.sim_ns = reported_ns(report);
    return;
  }

  const Result<std::string> inputs = inputs_on_disk(program, dir);
  if (!inputs.is_ok()) {
    outcome = outcome_of(inputs.status());
    return;
  }
  std::error_code ignored;
  fs::create_directories(results, ignored);
  std::vector<std::string> run = {stop.file ? work + "/" + stop.file : neff, "--inputs", inputs.value(),
                                  "--output-dir", results};
  if (!stop.file) run.insert(run.end(), {"--report", report});
  start = std::chrono::steady_clock::now();
  const ChildRun simulated = run_child(simulator, run);
  outcome.sim_s = seconds_since(start);
  if (!succeeded(simulated, "the simulator", outcome)) return;
  outcome.sim_ns = reported_ns(report);
  const Result<std::vector<Literal>> values = read_results(program, results);
  if (!values.is_ok()) {
    outcome.verdict = Verdict::Error;
    outcome.diagnostic = one_line(values.status().diagnostic().to_string());
    return;
  }
  compare_results(program, values.value(), settings.level, outcome);
}

}  // namespace

Outcome outcome_of(const Status& status) {
  Outcome outcome;
  const Diagnostic& diagnostic = status.diagnostic();
  outcome.verdict = Verdict::Error;
  if (diagnostic.code == Code::EVRF001 || diagnostic.code == Code::EVRF002)
    outcome.verdict = Verdict::Unsupported;
  outcome.diagnostic = one_line(fmt::format("[NCC_{}] {}", info(diagnostic.code).name, diagnostic.cause));
  return outcome;
}

Outcome run_program(const Program& program, const Settings& settings, const std::string& dir) {
  Outcome outcome;
  if (settings.level == Level::Golden) {
    run_golden(program, outcome);
  } else {
    run_compiled(program, settings, dir, outcome);
  }
  return outcome;
}

}  // namespace ncc::check
