// Whole programs: synchronisation, timing, races, deadlock, control flow, reports.
#include "ir-formats/isa/machine/machine.h"

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

using isa::BranchCompare;
using isa::DmaDescriptor;
using isa::Program;
using isa::VariableKind;

constexpr int64_t kElements = 128 * 64;

isa::Wait at_least(int semaphore, int value) {
  return {isa::WaitMode::SemGeImm, static_cast<uint8_t>(semaphore), value};
}
isa::Update increment(int semaphore) { return {isa::UpdateMode::SemInc, static_cast<uint8_t>(semaphore), 1}; }

/// in -> SBUF -> square on Activation -> add one on DVE -> out, with a semaphore between any two.
struct Pipeline {
  std::vector<float> input = std::vector<float>(kElements), output = std::vector<float>(kElements, -1);
  Program program;
  HostMemory memory{2};

  Pipeline() {
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 100);
    memory.bind(0, bytes(input));
    memory.bind_writable(1, std::as_writable_bytes(std::span<float>(output)));
    program.variables = {{"x", VariableKind::Input, kElements * 4, -1},
                         {"y", VariableKind::Output, kElements * 4, -1}};
    program.sources = {{"", "", "", 0},
                       {"I-load", "jit(f)/x", "f.py", 3},
                       {"I-square", "jit(f)/mul", "f.py", 4},
                       {"I-add", "jit(f)/add", "f.py", 5},
                       {"I-store", "jit(f)/y", "f.py", 6}};
    const Access a = sbuf(Dtype::F32, 128, 64, 0), b = sbuf(Dtype::F32, 128, 64, 256),
                 c = sbuf(Dtype::F32, 128, 64, 512);
    add_queue("load", 0, {dram(0, Dtype::F32, {{1, kElements}}), a, false, 1});
    add_queue("store", 3, {c, dram(1, Dtype::F32, {{1, kElements}}), false, 4});
    trigger(0);
    MachineInst square = make(Opcode::Activate, Engine::Activation, b, a);
    square.function = isa::ActivationFunction::Square;
    square.source = 2;
    add(square, {at_least(0, 16)}, increment(1));
    MachineInst plus = make(Opcode::TensorScalarArith, Engine::DVE, c, b);
    plus.op0 = AluOp::Add;
    plus.scalar0 = Scalar::immediate(1);
    plus.source = 3;
    add(plus, {at_least(1, 1)}, increment(2));
    trigger(1, {at_least(2, 1)});
  }

  MachineInst& add(MachineInst inst, std::vector<isa::Wait> waits = {},
                   std::optional<isa::Update> update = {}) {
    inst.num_waits = static_cast<uint8_t>(waits.size());
    for (size_t i = 0; i < waits.size(); ++i) inst.waits[i] = waits[i];
    inst.has_update = update.has_value();
    if (update) inst.update = *update;
    program.stream(inst.engine).push_back(inst);
    return program.stream(inst.engine).back();
  }
  void add_queue(const char* name, int semaphore, const DmaDescriptor& descriptor) {
    program.queues.push_back(
        {name, isa::QueueType::Data, Engine::SP, static_cast<uint8_t>(semaphore), 16, {descriptor}});
  }
  MachineInst& trigger(int queue, std::vector<isa::Wait> waits = {}) {
    MachineInst inst = make(Opcode::DmaTrigger, Engine::SP);
    inst.dma_queue = static_cast<uint16_t>(queue);
    return add(inst, std::move(waits));
  }
  Result<RunReport> run(RunMode mode = RunMode::Checking) {
    return machine::run(program, memory, {.mode = mode, .trace = true});
  }
  std::string fails(RunMode mode = RunMode::Checking) {
    const Result<RunReport> result = run(mode);
    REQUIRE_FALSE(result.is_ok());
    return result.status().diagnostic().to_string();
  }
};

TEST_CASE("a program runs through its semaphores and writes its output", "[machine][run]") {
  for (RunMode mode : {RunMode::Checking, RunMode::Functional}) {
    Pipeline p;
    const Result<RunReport> result = p.run(mode);
    INFO((result.is_ok() ? std::string() : result.status().diagnostic().to_string()));
    REQUIRE(result.is_ok());
    for (size_t i = 0; i < p.output.size(); ++i) REQUIRE(p.output[i] == p.input[i] * p.input[i] + 1);
  }
}

TEST_CASE("time is the sum of the dependent parts, and timing-only tells the same without data",
          "[machine][run]") {
  Pipeline p;
  const Result<RunReport> full = p.run();
  REQUIRE(full.is_ok());
  const ArchModel& arch = *find_arch("trn2");
  // Each DMA: 1 trigger cycle of SP, 1300 ns, 8 partitions per engine at 512 bytes of engine time each.
  const Ticks dma = 4 + ticks_from_ns(1300, arch) + dma_ticks(8 * 512, arch);
  CHECK(full.value().time_ticks == dma + 64 * 4 + 64 * 5 + dma);
  const Result<RunReport> timing = machine::run(p.program, HostMemory(0), {.mode = RunMode::TimingOnly});
  REQUIRE(timing.is_ok());
  CHECK(timing.value().time_ticks == full.value().time_ticks);
  CHECK(timing.value().time_ns == full.value().time_ns);
  const Result<RunReport> functional = p.run(RunMode::Functional);
  CHECK(functional.value().time_ns == full.value().time_ns);
}

TEST_CASE("the report counts bytes by variable kind, busy and stall time, and time per source",
          "[machine][run]") {
  Pipeline p;
  const RunReport report = p.run().take();
  CHECK(report.dma.dram_bytes[static_cast<size_t>(VariableKind::Input)] == kElements * 4);
  CHECK(report.dma.dram_bytes[static_cast<size_t>(VariableKind::Output)] == kElements * 4);
  CHECK(report.dma.dram_bytes[static_cast<size_t>(VariableKind::Internal)] == 0);
  CHECK(report.dma.transfers == 2);
  CHECK(report.instructions == 4);
  CHECK(report.engine(Engine::Activation).busy_ticks == 64 * 4);
  CHECK(report.engine(Engine::Activation).stall_ticks[static_cast<size_t>(StallCause::Wait)] > 0);
  CHECK(report.sources[2].executions == 1);
  CHECK(report.sources[2].ticks == 64 * 4);
  CHECK(report.events.size() == 4);
  CHECK(report.events.front().lane == TraceEvent::kFirstQueueLane);
}

TEST_CASE("a missing wait is a race that names both instructions, whatever the mode", "[machine][run]") {
  for (RunMode mode : {RunMode::Checking, RunMode::TimingOnly}) {
    Pipeline p;
    // Pool writes into a corner of DVE's result; nothing orders the two.
    p.program.sources.push_back({"I-fill", "jit(f)/zeros", "f.py", 9});
    MachineInst fill = make(Opcode::Memset, Engine::Pool, sbuf(Dtype::F32, 64, 16, 512 + 32, 64));
    fill.source = 5;
    p.add(fill);
    const std::string text = p.fails(mode);
    INFO(text);
    CHECK(text.find("ESIM002") != std::string::npos);
    CHECK(text.find("'I-fill'") != std::string::npos);
    CHECK(text.find("'I-add'") != std::string::npos);
    CHECK(text.find("f.py:") != std::string::npos);
  }
}

TEST_CASE("accesses to different partitions or bytes are no race", "[machine][run]") {
  Pipeline p;
  p.add(make(Opcode::Memset, Engine::Pool, sbuf(Dtype::F32, 128, 16, 768)));
  REQUIRE(p.run().is_ok());
  // Odd elements on one engine, even ones on another, at the same addresses.
  Access even = sbuf(Dtype::F32, 128, 32, 1024), odd = sbuf(Dtype::F32, 128, 32, 1028);
  even.dims[0].step = odd.dims[0].step = 2;
  p.add(make(Opcode::Memset, Engine::Pool, even));
  p.add(make(Opcode::Memset, Engine::DVE, odd));
  CHECK(p.run().is_ok());
  p.program.stream(Engine::DVE).back().out = even;
  CHECK(p.fails().find("ESIM002") != std::string::npos);
}

TEST_CASE("a DMA triggered behind its producer needs a wait or a drain", "[machine][run]") {
  Pipeline p;
  auto move_store_to_dve = [&](bool drain) {
    p.program.stream(Engine::SP).pop_back();
    p.program.queues[1].trigger = Engine::DVE;
    if (drain) p.add(make(Opcode::Drain, Engine::DVE));
    MachineInst trigger = make(Opcode::DmaTrigger, Engine::DVE);
    trigger.dma_queue = 1;
    p.add(trigger);
  };
  SECTION("without, it is a race") {
    move_store_to_dve(false);
    CHECK(p.fails().find("ESIM002") != std::string::npos);
  }
  SECTION("with a drain it is ordered") {
    move_store_to_dve(true);
    CHECK(p.run().is_ok());
  }
}

TEST_CASE("reads of unwritten memory and unwritten outputs are errors with names", "[machine][run]") {
  Pipeline p;
  p.program.stream(Engine::DVE)[0].in0 = sbuf(Dtype::F32, 128, 64, 4096);
  std::string text = p.fails();
  INFO(text);
  CHECK(text.find("ESIM003") != std::string::npos);
  CHECK(text.find("'I-add'") != std::string::npos);
  Pipeline q;
  q.program.queues[1].descriptors[0].dst.dims[0].count -= 64;
  q.program.queues[1].descriptors[0].src.num_partitions = 127;
  text = q.fails();
  CHECK(text.find("byte 32512 of output 'y'") != std::string::npos);
}

TEST_CASE("a wait that nothing satisfies is a deadlock, with the value it saw", "[machine][run]") {
  Pipeline p;
  p.program.stream(Engine::DVE)[0].waits[0].value = 2;
  const std::string text = p.fails();
  INFO(text);
  CHECK(text.find("ESIM004") != std::string::npos);
  CHECK(text.find("'I-add' (bundle 0 of DVE) waits for semaphore 1 >= 2, it is 1") != std::string::npos);
  CHECK(text.find("f.py:5") != std::string::npos);
}

TEST_CASE("an endless loop is stopped", "[machine][run]") {
  Program program;
  MachineInst jump = make(Opcode::CompareBranch, Engine::SP);
  jump.branch_always = true;
  program.stream(Engine::SP).push_back(jump);
  const Result<RunReport> result = machine::run(program, HostMemory(0), {.max_instructions = 1000});
  REQUIRE_FALSE(result.is_ok());
  CHECK(result.status().diagnostic().code == Code::ESIM004);
}

TEST_CASE("a counted loop on registers runs its body, in timing-only mode too", "[machine][run]") {
  Pipeline p;
  auto reg = [](Opcode opcode, AluOp op, int dst, int immediate) {
    MachineInst inst = make(opcode, Engine::Pool);
    inst.op0 = op;
    inst.reg_dst = inst.reg_left = static_cast<uint8_t>(dst);
    inst.immediate = immediate;
    return inst;
  };
  p.add(reg(Opcode::RegisterMove, AluOp::Bypass, 5, 0));
  p.add(make(Opcode::Memset, Engine::Pool, sbuf(Dtype::F32, 128, 64, 8192)));
  p.add(reg(Opcode::RegisterAlu, AluOp::Add, 5, 1));
  MachineInst branch = make(Opcode::CompareBranch, Engine::Pool);
  branch.compare = BranchCompare::LtImm;
  branch.reg_left = 5;
  branch.immediate = 10;
  branch.target = 1;
  p.add(branch);
  const Result<RunReport> full = p.run();
  REQUIRE(full.is_ok());
  CHECK(full.value().engine(Engine::Pool).instructions == 1 + 10 * 3);
  CHECK(full.value().engine(Engine::Pool).busy_ticks == 10 * 64 * 4);
  const Result<RunReport> timing = p.run(RunMode::TimingOnly);
  REQUIRE(timing.is_ok());
  CHECK(timing.value().time_ticks == full.value().time_ticks);
}

TEST_CASE("timing-only stops only where a branch depends on data (M7)", "[machine][run]") {
  Pipeline p;
  MachineInst load = make(Opcode::TensorLoadRegister, Engine::Pool, {}, dram(0, Dtype::S32, {{1, 1}}));
  load.reg_dst = 3;
  p.add(load);
  REQUIRE(p.run(RunMode::TimingOnly).is_ok());
  MachineInst branch = make(Opcode::CompareBranch, Engine::Pool);
  branch.compare = BranchCompare::EqImm;
  branch.reg_left = 3;
  branch.target = 2;
  p.add(branch);
  CHECK(p.run().is_ok());
  const std::string text = p.fails(RunMode::TimingOnly);
  CHECK(text.find("depends on data") != std::string::npos);
}

TEST_CASE("barriers join all engines and order what stands before and after", "[machine][run]") {
  Program program;
  const Access tile_a = sbuf(Dtype::F32, 128, 512, 0);
  for (Engine engine : isa::kStreamEngines) {
    if (engine == Engine::Pool) program.stream(engine).push_back(make(Opcode::Memset, engine, tile_a));
    program.stream(engine).push_back(make(Opcode::AllEngineBarrier, engine));
    if (engine == Engine::DVE)
      program.stream(engine).push_back(make(Opcode::Copy, engine, sbuf(Dtype::F32, 128, 512, 4096), tile_a));
  }
  const Result<RunReport> result = machine::run(program, HostMemory(0));
  INFO((result.is_ok() ? std::string() : result.status().diagnostic().to_string()));
  REQUIRE(result.is_ok());
  CHECK(result.value().time_ticks == 512 * 4 + 5 + 512 * 5);
  program.stream(Engine::PE).clear();
  CHECK(machine::run(program, HostMemory(0)).is_ok());
  program.stream(Engine::PE).push_back(make(Opcode::AllEngineBarrier, Engine::PE));
  program.stream(Engine::PE).push_back(make(Opcode::AllEngineBarrier, Engine::PE));
  program.stream(Engine::SP)
      .insert(program.stream(Engine::SP).begin(), make(Opcode::EventSemaphore, Engine::SP));
  program.stream(Engine::SP)[0].num_waits = 1;
  program.stream(Engine::SP)[0].waits[0] = at_least(9, 1);
  const Result<RunReport> stuck = machine::run(program, HostMemory(0));
  REQUIRE_FALSE(stuck.is_ok());
  CHECK(stuck.status().diagnostic().cause.find("is at a barrier") != std::string::npos);
}

TEST_CASE("a function whose table is not resident is refused", "[machine][run]") {
  Pipeline p;
  p.program.stream(Engine::Activation)[0].function = isa::ActivationFunction::Exp;
  CHECK(p.fails().find("needs its table") != std::string::npos);
  MachineInst load = make(Opcode::ActivationTableLoad, Engine::Activation);
  auto& stream = p.program.stream(Engine::Activation);
  stream.insert(stream.begin(), load);
  CHECK(p.run().is_ok());
}

TEST_CASE("transfers of one queue complete in order and overlap their latency", "[machine][run]") {
  Pipeline p;
  isa::DmaQueue& queue = p.program.queues[0];
  for (int i = 1; i < 20; ++i) {
    queue.descriptors.push_back(
        {dram(0, Dtype::F32, {{1, 64}}), sbuf(Dtype::F32, 1, 64, 16384 + 256 * i), false, 1});
    MachineInst& inst = p.trigger(0);
    inst.dma_block = static_cast<uint32_t>(i);
  }
  // Triggers come after the store's wait in the stream; move them in front.
  auto& stream = p.program.stream(Engine::SP);
  std::rotate(stream.begin() + 1, stream.begin() + 2, stream.end());
  const Result<RunReport> result = p.run();
  INFO((result.is_ok() ? std::string() : result.status().diagnostic().to_string()));
  REQUIRE(result.is_ok());
  CHECK(result.value().dma.transfers == 21);
  CHECK(result.value().time_ns < 3 * 1300 + 1500);  // not 20 latencies
}

TEST_CASE("results and time do not depend on the number of threads", "[machine][run]") {
  Pipeline a, b;
  const Result<RunReport> one = machine::run(a.program, a.memory, {.threads = 1});
  const Result<RunReport> four = machine::run(b.program, b.memory, {.threads = 4});
  REQUIRE((one.is_ok() && four.is_ok()));
  CHECK(a.output == b.output);
  CHECK(one.value().time_ticks == four.value().time_ticks);
}

}  // namespace
}  // namespace ncc::machine
