// The NEFF level: bytes to a verified program, arrays to DRAM variables, machine, variables to arrays.
#include <nlohmann/json.hpp>

#include "ir-formats/neff/graph_json.h"
#include "ir-formats/neff/neff_file.h"
#include "tools/neuron-sim/host_arrays.h"
#include "tools/neuron-sim/levels.h"

namespace ncc::sim {
namespace {

// DRAM of one run: bindings and the storage behind them.
struct Dram {
  explicit Dram(size_t num_variables) : memory(num_variables) {}
  machine::HostMemory memory;
  std::vector<DeviceBytes> inputs;
  std::vector<std::vector<std::byte>> outputs;  // by position in io.outputs
};

std::string describe(const neff::IoTensor& tensor) {
  return fmt::format("'{}' {}[{}]", tensor.name, info(tensor.dtype).hlo, fmt::join(tensor.shape, ","));
}

Status bind_inputs(const isa::Program& program, const neff::ProgramIo& io, const Inputs& inputs, Dram& dram) {
  if (inputs.size() < io.inputs.size())
    return error(Code::ERUN001, inputs.size(),
                 fmt::format("no array is given for {}", describe(io.inputs[inputs.size()])));
  if (inputs.size() > io.inputs.size())
    return error(
        Code::ERUN001, io.inputs.size(),
        fmt::format("{} arrays are given, the program has {} parameters", inputs.size(), io.inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto variable = static_cast<size_t>(neff::find_variable(program.variables, io.inputs[i].variable));
    NCC_ASSIGN(DeviceBytes bytes,
               to_device(io.inputs[i], i, inputs[i].array, program.variables[variable].size_bytes));
    dram.memory.bind(variable, bytes.bytes);
    dram.inputs.push_back(std::move(bytes));
  }
  return Status::ok();
}

void bind_outputs(const isa::Program& program, const neff::ProgramIo& io, Dram& dram) {
  dram.outputs.resize(io.outputs.size());
  for (size_t i = 0; i < io.outputs.size(); ++i) {
    const auto variable = static_cast<size_t>(neff::find_variable(program.variables, io.outputs[i].variable));
    dram.outputs[i].resize(static_cast<size_t>(program.variables[variable].size_bytes));
    dram.memory.bind_writable(variable, dram.outputs[i]);
  }
}

void bind_constants(const isa::Program& program, std::span<const std::byte> constants, Dram& dram) {
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const isa::Variable& variable = program.variables[i];
    if (variable.kind == isa::VariableKind::Const)
      dram.memory.bind(i, constants.subspan(static_cast<size_t>(variable.const_offset),
                                            static_cast<size_t>(variable.size_bytes)));
  }
}

// hlo2penguin counts the model's work before lowering; null = a trip count is unknown.
Result<std::optional<double>> read_roofline(std::string_view metrics) {
  const nlohmann::json top = nlohmann::json::parse(metrics, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object()) return error(Code::ENEF001, "hlo_metrics.json: malformed JSON");
  const auto found = top.find("roofline_ns");
  if (found == top.end() || !found->is_number()) return std::optional<double>();
  return std::optional<double>(found->get<double>());
}

machine::RunOptions machine_options(const SimOptions& options) {
  machine::RunOptions run;
  run.mode = options.timing_only  ? machine::RunMode::TimingOnly
             : options.functional ? machine::RunMode::Functional
                                  : machine::RunMode::Checking;
  run.trace = !options.trace.empty();
  run.threads = options.threads;
  return run;
}

/// From reset, with inputs as they are given: what an earlier run wrote is not seen.
Result<std::vector<NamedArray>> run_once(const SimOptions& options, const Inputs& inputs,
                                         const neff::ProgramIo& io, std::span<const std::byte> constants,
                                         TimedRun& timed) {
  Dram dram(timed.program.variables.size());
  if (!options.timing_only) {
    NCC_TRY(bind_inputs(timed.program, io, inputs, dram));
    bind_outputs(timed.program, io, dram);
    bind_constants(timed.program, constants, dram);
  }
  NCC_ASSIGN(timed.report, machine::run(timed.program, dram.memory, machine_options(options)));
  std::vector<NamedArray> outputs;
  for (size_t i = 0; !options.timing_only && i < io.outputs.size(); ++i)
    outputs.push_back({io.outputs[i].name, from_device(io.outputs[i], dram.outputs[i])});
  return outputs;
}

}  // namespace

Result<Outcome> run_neff(const SimOptions& options, const Inputs& inputs) {
  NCC_ASSIGN(const std::shared_ptr<const neff::NeffFile> file, neff::NeffFile::open(options.file));
  if (file->subgraphs().size() != 1)
    return error(Code::ERUN003, fmt::format("'{}' has {} subgraphs, one is supported", options.file,
                                            file->subgraphs().size()));
  const std::string& subgraph = file->subgraphs().front();
  Outcome outcome;
  outcome.timed = std::make_unique<TimedRun>();
  TimedRun& timed = *outcome.timed;
  NCC_ASSIGN(timed.program, file->read_program(subgraph));
  NCC_ASSIGN(const neff::ProgramIo io, file->read_io(subgraph, timed.program));
  timed.arch = find_arch(timed.program.generation == 2 ? "trn1" : "trn2");
  if (const auto found = file->members().find("hlo_metrics.json"); found != file->members().end()) {
    NCC_ASSIGN(timed.roofline_ns, read_roofline(found->second));
  }
  const std::span<const std::byte> constants = file->constants(subgraph);
  timed.repetitions = options.repetitions;
  if (timed.repetitions == 0) {
    NCC_ASSIGN(const std::string_view text, file->member("info.json"));
    NCC_ASSIGN(timed.repetitions, neff::read_repetitions(text));
  }
  for (int64_t i = 0; i < timed.repetitions; ++i) {
    NCC_ASSIGN(outcome.outputs, run_once(options, inputs, io, constants, timed));
    timed.total_ns += timed.report.time_ns;
  }
  return outcome;
}

}  // namespace ncc::sim
