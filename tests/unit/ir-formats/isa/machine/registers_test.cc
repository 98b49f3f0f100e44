// Registers and branches, virtual arenas, and random programs: timing-only equals the full run.
#include <random>

#include "ir-formats/isa/machine/machine.h"
#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

TEST_CASE("registers move, compute and go to and from memory", "[machine]") {
  Core core;
  auto alu = [&](AluOp op, int32_t a, int32_t b) {
    core.core.set_reg(Engine::SP, 1, a);
    MachineInst inst = make(Opcode::RegisterAlu, Engine::SP);
    inst.op0 = op;
    inst.reg_left = 1;
    inst.reg_dst = 2;
    inst.immediate = b;
    core.run(inst);
    return core.core.reg(Engine::SP, 2);
  };
  CHECK(alu(AluOp::Add, 7, -9) == -2);
  CHECK(alu(AluOp::Mult, 1 << 20, 1 << 13) == 0);
  CHECK(alu(AluOp::Divide, -7, 2) == -3);
  CHECK(alu(AluOp::Mod, -7, 3) == 2);
  CHECK(alu(AluOp::ArithShiftRight, -8, 1) == -4);
  CHECK(alu(AluOp::IsLt, -8, 1) == 1);
  CHECK(alu(AluOp::Max, -8, 1) == 1);
  core.put<int16_t>(sbuf(Dtype::S16, 1, 1, 0), {-5});
  MachineInst load = make(Opcode::TensorLoadRegister, Engine::Pool, {}, sbuf(Dtype::S16, 1, 1, 0));
  load.reg_dst = 9;
  core.run(load);
  CHECK(core.core.reg(Engine::Pool, 9) == -5);
  MachineInst store = make(Opcode::TensorStoreRegister, Engine::Pool, sbuf(Dtype::S32, 1, 1, 64));
  store.reg_left = 9;
  core.run(store);
  CHECK(core.get<int32_t>(store.out) == std::vector<int32_t>{-5});
}

TEST_CASE("branches compare signed, with an immediate or a register", "[machine]") {
  Core core;
  core.core.set_reg(Engine::DVE, 1, -1);
  core.core.set_reg(Engine::DVE, 2, 3);
  MachineInst inst = make(Opcode::CompareBranch, Engine::DVE);
  inst.reg_left = 1;
  inst.reg_right = 2;
  inst.immediate = -1;
  auto taken = [&](isa::BranchCompare compare) {
    inst.compare = compare;
    return core.core.branch_taken(inst);
  };
  CHECK(taken(isa::BranchCompare::EqImm));
  CHECK_FALSE(taken(isa::BranchCompare::LtImm));
  CHECK(taken(isa::BranchCompare::LtReg));
  CHECK_FALSE(taken(isa::BranchCompare::GeReg));
  CHECK(taken(isa::BranchCompare::NeReg));
}

TEST_CASE("a virtual arena may be far larger than SBUF", "[machine]") {
  FunctionalCore core(*find_arch("trn2"), {}, HostMemory(0), {.sbuf_bytes_per_partition = int64_t{1} << 30});
  const Access far = sbuf(Dtype::F32, 128, 4, 900 << 20);
  MachineInst fill = make(Opcode::Memset, Engine::DVE, far);
  fill.scalar0 = Scalar::immediate(1.5f);
  REQUIRE(core.execute(fill).is_ok());
  std::vector<std::byte> raw;
  REQUIRE(core.read(far, raw).is_ok());
  float last;
  std::memcpy(&last, raw.data() + raw.size() - 4, 4);
  CHECK(last == 1.5f);
  core.mark_unwritten(far);
  CHECK_FALSE(core.execute(make(Opcode::Copy, Engine::DVE, sbuf(Dtype::F32, 128, 4, 0), far)).is_ok());
}

// A chain of copies through random engines and DMA, each step ordered after the one before by semaphores,
// with independent work in between.
isa::Program random_program(unsigned seed) {
  std::mt19937 random(seed);
  isa::Program program;
  program.generation = seed % 2 == 0 ? 2 : 3;
  program.variables = {{"scratch", isa::VariableKind::Internal, 128 * 512 * 4, -1}};
  program.sources.resize(1);
  std::array<int, 8> counts{};
  int transfers = 0;
  auto add = [&](MachineInst inst, Engine after, int count) {
    const bool from_dma = after == Engine::DMA;
    if (count > 0)
      inst.waits[inst.num_waits++] = {isa::WaitMode::SemGeImm, static_cast<uint8_t>(after),
                                      from_dma ? 16 * count : count};
    if (inst.opcode != Opcode::DmaTrigger) {
      inst.has_update = true;
      inst.update = {isa::UpdateMode::SemInc, static_cast<uint8_t>(inst.engine), 1};
      ++counts[static_cast<size_t>(inst.engine)];
    }
    program.stream(inst.engine).push_back(inst);
  };
  program.queues.push_back(
      {"move", isa::QueueType::Data, Engine::SP, static_cast<uint8_t>(Engine::DMA), 16, {}});
  Access current = sbuf(Dtype::F32, 128, 512, 0);
  MachineInst fill = make(Opcode::Memset, Engine::Pool, current);
  add(fill, Engine::Pool, 0);
  Engine last = Engine::Pool;
  for (int step = 1; step < 60; ++step) {
    const Access next = sbuf(Dtype::F32, 128, 1 + static_cast<int64_t>(random() % 511), 2048 * (step % 64));
    current.dims[0].count = next.dims[0].count;
    const int count = last == Engine::DMA ? transfers : counts[static_cast<size_t>(last)];
    const Engine engines[] = {Engine::Pool, Engine::DVE, Engine::Activation, Engine::DMA};
    const Engine engine = engines[random() % 4];
    if (engine == Engine::DMA) {
      MachineInst inst = make(Opcode::DmaTrigger, Engine::SP);
      inst.dma_block = static_cast<uint32_t>(program.queues[0].descriptors.size());
      program.queues[0].descriptors.push_back({current, next});
      ++transfers;
      add(inst, last, count);
    } else {
      add(make(Opcode::Copy, engine, next, current), last, count);
    }
    current = next;
    current.dims[0].count = 512;
    last = engine;
    if (random() % 3 == 0)
      add(make(Opcode::Memset, Engine::Pool,
               sbuf(Dtype::F32, 32, 64, 150000 + 256 * static_cast<int64_t>(random() % 8))),
          last, 0);
    current.dims[0].count = next.dims[0].count;
    // The next copy may be longer than what was written: fill the rest first.
    MachineInst rest =
        make(Opcode::Memset, Engine::Pool,
             sbuf(Dtype::F32, 128, 512 - next.dims[0].count, next.offset + 4 * next.dims[0].count));
    if (next.dims[0].count < 512) {
      add(rest, last, last == Engine::DMA ? transfers : counts[static_cast<size_t>(last)]);
      last = Engine::Pool;
    }
  }
  return program;
}

TEST_CASE("timing-only gives the time of the full run, to the tick, on random programs", "[machine][run]") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const isa::Program program = random_program(seed);
    const Result<RunReport> full = run(program, HostMemory(1));
    INFO("seed " << seed << (full.is_ok() ? std::string() : full.status().diagnostic().to_string()));
    REQUIRE(full.is_ok());
    const Result<RunReport> timing = run(program, HostMemory(0), {.mode = RunMode::TimingOnly});
    REQUIRE(timing.is_ok());
    CHECK(timing.value().time_ticks == full.value().time_ticks);
    for (Engine engine : isa::kStreamEngines) {
      CHECK(timing.value().engine(engine).busy_ticks == full.value().engine(engine).busy_ticks);
      CHECK(timing.value().engine(engine).stall_ticks == full.value().engine(engine).stall_ticks);
    }
  }
}

TEST_CASE("dropping one wait of a random program is found as a race, an unwritten read or a deadlock",
          "[machine][run]") {
  int found = 0;
  constexpr int kSeeds = 20;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    isa::Program program = random_program(seed);
    std::mt19937 random(seed);
    // Cut the wait of an instruction whose producer is on another engine.
    std::vector<MachineInst*> candidates;
    for (Engine engine : {Engine::DVE, Engine::Activation, Engine::SP})
      for (MachineInst& inst : program.stream(engine))
        if (inst.num_waits > 0 && inst.waits[0].semaphore != static_cast<uint8_t>(engine))
          candidates.push_back(&inst);
    candidates[random() % candidates.size()]->num_waits = 0;
    found += run(program, HostMemory(1)).is_ok() ? 0 : 1;
  }
  CHECK(found == kSeeds);
}

}  // namespace
}  // namespace ncc::machine
