// Compiled kernels on the simulated machine: results, races, and the scheduler's estimate against the
// simulated time.
#include <cstdlib>

#include "ir-formats/isa/machine/machine.h"
#include "tests/unit/ir-formats/bir/gemm_kernel.h"
#include "tests/unit/tools/walrus_driver/harness.h"

namespace ncc::walrus {
namespace {

using testing::Run;

struct Simulated {
  bir::Tensors outputs;
  machine::RunReport report;
};

Simulated simulate(const isa::Program& program, const bir::Tensors& inputs, machine::RunMode mode) {
  Simulated result;
  machine::HostMemory memory(program.variables.size());
  for (size_t v = 0; v < program.variables.size() && mode != machine::RunMode::TimingOnly; ++v) {
    const isa::Variable& variable = program.variables[v];
    if (variable.kind == isa::VariableKind::Input) memory.bind(v, inputs.at(variable.name));
    if (variable.kind != isa::VariableKind::Output) continue;
    std::vector<std::byte>& storage = result.outputs[variable.name];
    storage.resize(static_cast<size_t>(variable.size_bytes));
    memory.bind_writable(v, storage);
  }
  machine::RunOptions options;
  options.mode = mode;
  Result<machine::RunReport> report = machine::run(program, memory, options);
  if (!report.is_ok()) FAIL(report.status().diagnostic().to_string());
  result.report = report.take();
  return result;
}

double error_of_estimate(Run& run, const Simulated& sim) {
  const double estimate = static_cast<double>(run.ctx.metrics["PostSchedEstLatency"]);
  const double time = static_cast<double>(sim.report.time_ns);
  INFO("estimate " << estimate << " ns, simulated " << time << " ns");
  return std::abs(estimate - time) / time;
}

TEST_CASE("bir_sim and the compiled program on the machine give the same result", "[walrus]") {
  for (const std::string arch : {"gen3", "sunda"}) {
    const bir::testing::LinearData data(5);
    Run run(bir::testing::linear_layer(5, arch));
    REQUIRE(run.cause() == "");
    const Simulated sim = simulate(run.ctx.program, data.inputs, machine::RunMode::Checking);
    CHECK((bir::testing::as_floats(sim.outputs.at("y")) == data.expected));
    CHECK(error_of_estimate(run, sim) < 0.05);
  }
}

TEST_CASE("a matrix product keeps the engines busy and the estimate is close", "[walrus]") {
  Run run(bir::testing::gemm(8, 4, 8));
  REQUIRE(run.cause() == "");
  const Simulated sim = simulate(run.ctx.program, {}, machine::RunMode::TimingOnly);
  CHECK(error_of_estimate(run, sim) < 0.05);
  const double busy = static_cast<double>(sim.report.engine(isa::Engine::PE).busy_ticks) /
                      static_cast<double>(sim.report.time_ticks);
  INFO("PE busy " << busy);
  CHECK(busy > 0.5);
}

TEST_CASE("tiles that every column panel loads again are loaded once", "[walrus]") {
  Run run(bir::testing::gemm(4, 4, 4));
  REQUIRE(run.cause() == "");
  CHECK(run.ctx.metrics["loads_merged"] == 3 * 4 * 4);
  bir::Tensors inputs;
  for (const auto& [name, elements] : {std::pair{"a", 512 * 512}, std::pair{"b", 512 * 2048}}) {
    std::vector<std::byte>& bytes = inputs[name];
    for (int i = 0; i < elements; ++i) {
      const uint16_t value = bf16_from_f32(static_cast<float>((i * 7 + i / 512) % 5 - 2));
      bytes.push_back(static_cast<std::byte>(value & 0xFF));
      bytes.push_back(static_cast<std::byte>(value >> 8));
    }
  }
  const Simulated sim = simulate(run.ctx.program, inputs, machine::RunMode::Checking);
  Result<bir::Tensors> expected = bir::interpret(bir::testing::gemm(4, 4, 4), {}, inputs);
  REQUIRE(expected.is_ok());
  CHECK((sim.outputs.at("c") == expected.value().at("c")));
}

TEST_CASE("compile a large matrix product", "[.bench]") {
  const char* tiles = std::getenv("TILES");
  const int64_t t = tiles ? std::atoll(tiles) : 32;
  Run run(bir::testing::gemm(t, t / 4, t));
  REQUIRE(run.cause() == "");
  for (const PassRecord& r : run.records) WARN(r.name << " " << r.wall_us / 1000 << " ms " << r.instructions);
  for (const auto& [name, value] : run.ctx.metrics) WARN(name << " " << value);
  const Simulated sim = simulate(run.ctx.program, {}, machine::RunMode::TimingOnly);
  WARN("simulated " << sim.report.time_ns << " PE busy "
                    << static_cast<double>(sim.report.engine(isa::Engine::PE).busy_ticks) /
                           static_cast<double>(sim.report.time_ticks));
}

}  // namespace
}  // namespace ncc::walrus
