#include <algorithm>

#include "tests/unit/tools/walrus_driver/harness.h"

namespace ncc::walrus {
namespace {

using testing::Run;

TEST_CASE("a kernel means the same after every pass", "[walrus]") {
  for (const std::string arch : {"gen3", "sunda"}) {
    const bir::testing::LinearData data(5);
    bir::Module module = bir::testing::linear_layer(5, arch);
    PassContext ctx{*find_arch(arch), 1'000'000, {}, {}};
    std::vector<PassRecord> records;
    const Status status = run_pipeline(
        build_pipeline("").take(), module, ctx, records, [&](const PassInfo& pass, const bir::Module& now) {
          INFO(pass.name);
          Result<bir::Tensors> outputs = bir::interpret(now, {}, data.inputs);
          if (!outputs.is_ok()) FAIL(outputs.status().diagnostic().to_string());
          CHECK((bir::testing::as_floats(outputs.value().at("y")) == data.expected));
          return Status::ok();
        });
    if (!status.is_ok()) FAIL(status.diagnostic().to_string());
    CHECK(ctx.program.stream(isa::Engine::PE).size() > 10);
  }
}

TEST_CASE("the same module compiles to the same program", "[walrus]") {
  Run first(bir::testing::linear_layer(4)), second(bir::testing::linear_layer(4));
  REQUIRE(first.cause() == "");
  for (isa::Engine engine : isa::kStreamEngines)
    CHECK(first.ctx.program.stream(engine) == second.ctx.program.stream(engine));
}

TEST_CASE("an unknown pass is refused with a suggestion", "[walrus]") {
  Result<std::vector<const PassInfo*>> pipeline = build_pipeline("unrol");
  REQUIRE(!pipeline.is_ok());
  CHECK(pipeline.status().diagnostic().advice == "did you mean 'unroll'?");
}

TEST_CASE("unroll makes accumulation flags constant and gives each iteration its own location", "[walrus]") {
  Run run(bir::testing::linear_layer(3), "unroll");
  REQUIRE(run.cause() == "");
  std::vector<int> flags;
  for (const bir::Instruction& inst : run.block())
    if (inst.opcode == bir::Opcode::Matmult) flags.push_back(inst.attrs().accumulation_flag);
  CHECK(flags == std::vector<int>{1, 4, 6});
  CHECK(run.block()[4].name == "load_x.1");
  CHECK(run.block()[4].ins[0].offset == 128 * 64);
  CHECK(run.block()[4].outs[0].location != run.block()[1].outs[0].location);
  CHECK(run.module.sources[run.block()[4].source].name == "load_x");
}

TEST_CASE("unroll refuses more instructions than the limit before building them", "[walrus]") {
  testing::Builder b;
  for (int i = 0; i < 4; ++i) b.begin_loop(b.axis(fmt::format("i{}", i), 1'000'000));
  const uint32_t a = b.set("a", bir::Memory::Sbuf, Dtype::F32, {128, 4});
  b.add("clear", bir::Opcode::Memset, bir::Engine::DVE, {}, {b.all(a)});
  Run run(b.take(), "unroll");
  CHECK(run.cause() == "function 'main' unrolls to more than 5000000 instructions");
}

TEST_CASE("rotation gives a loop's buffers different addresses", "[walrus]") {
  Run run(bir::testing::linear_layer(3), testing::passes_until("coloring_allocator_sb"));
  REQUIRE(run.cause() == "");
  std::vector<int64_t> addresses;
  for (const bir::MemoryLocation& l : run.module.main().locations)
    if (l.memory == bir::Memory::Sbuf) addresses.push_back(l.address);
  std::sort(addresses.begin(), addresses.end());
  CHECK(std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end());
}

TEST_CASE("a tensor larger than SBUF is refused by name", "[walrus]") {
  testing::Builder b;
  const uint32_t x = b.set("x", bir::Memory::Dram, Dtype::F32, {128, 70000}, bir::TensorKind::ExternalInput);
  const uint32_t y = b.set("y", bir::Memory::Dram, Dtype::F32, {128, 70000}, bir::TensorKind::ExternalOutput);
  const uint32_t big = b.set("big", bir::Memory::Sbuf, Dtype::F32, {128, 70000});
  b.add("in", bir::Opcode::Load, bir::Engine::DMA, {b.ap(x, {{70000, 128}, {1, 70000}})}, {b.all(big)});
  b.add("out", bir::Opcode::Save, bir::Engine::DMA, {b.all(big)}, {b.ap(y, {{70000, 128}, {1, 70000}})});
  Run run(b.take());
  CHECK(run.cause() == "'big' does not fit SBUF: needs 280000 bytes per partition, 229376 available");
}

TEST_CASE("an instruction whose result nothing reads is dropped", "[walrus]") {
  testing::Builder b;
  const uint32_t a = b.set("a", bir::Memory::Sbuf, Dtype::F32, {128, 4});
  b.add("clear", bir::Opcode::Memset, bir::Engine::DVE, {}, {b.all(a)});
  Run run(b.take(), "unroll,dead_code_elim");
  CHECK(run.block().empty());
}

TEST_CASE("the race check accepts what alloc_semaphores made and refuses a lost wait", "[walrus]") {
  Run run(bir::testing::linear_layer(3), testing::passes_until("bir_racecheck"));
  REQUIRE(run.cause() == "");
  for (bir::Instruction& inst : run.module.main().block.instructions)
    if (inst.opcode == bir::Opcode::Activation) inst.waits.clear();
  Run again(std::move(run.module), "bir_racecheck");
  CHECK(again.status.diagnostic().code == Code::EBIR004);
}

TEST_CASE("an accumulation group without STOP is refused", "[walrus]") {
  bir::Module module = bir::testing::linear_layer(3);
  Run run(std::move(module), "unroll");
  for (bir::Instruction& inst : run.module.main().block.instructions)
    if (inst.opcode == bir::Opcode::Matmult) inst.mutable_attrs().accumulation_flag &= 5;
  Run again(std::move(run.module), "legalize_mm_accumulation_groups");
  CHECK(again.cause() == "illegal instruction 'mm.2' (Matmult): its accumulation group has no STOP");
}

TEST_CASE("activation tables are loaded once per run of functions that share a set", "[walrus]") {
  testing::Builder b;
  const uint32_t x = b.set("x", bir::Memory::Dram, Dtype::F32, {128, 8}, bir::TensorKind::ExternalInput);
  const uint32_t y = b.set("y", bir::Memory::Dram, Dtype::F32, {128, 8}, bir::TensorKind::ExternalOutput);
  const uint32_t a = b.set("a", bir::Memory::Sbuf, Dtype::F32, {128, 8});
  b.add("in", bir::Opcode::Load, bir::Engine::DMA, {b.ap(x, {{8, 128}, {1, 8}})}, {b.all(a)});
  using F = bir::ActivationFunction;
  int n = 0;
  for (F f : {F::Exp, F::Tanh, F::Exp, F::Square, F::Ln}) {
    bir::Instruction& act = b.add(fmt::format("act{}", n++), bir::Opcode::Activation, bir::Engine::Activation,
                                  {b.all(a), testing::Builder::immediate(0.0f)}, {b.all(a)});
    act.mutable_attrs().function = f;
  }
  b.add("out", bir::Opcode::Save, bir::Engine::DMA, {b.all(a)}, {b.ap(y, {{8, 128}, {1, 8}})});
  Run run(b.take());
  REQUIRE(run.cause() == "");
  CHECK(run.ctx.metrics["act_table_loads"] == 2);
}

}  // namespace
}  // namespace ncc::walrus
