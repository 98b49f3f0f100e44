// Cost values: the published formulas at given sizes, the state machine, DMA engines.
#include "ir-formats/isa/machine/cost.h"

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

const ArchModel& trn1() { return *find_arch("trn1"); }
const ArchModel& trn2() { return *find_arch("trn2"); }

int64_t cycles(const MachineInst& inst, const ArchModel& arch) {
  return execution_ticks(cost_key(inst), arch) / ticks_per_cycle(inst.engine, arch);
}

MachineInst matmul(Dtype dtype, int64_t n, int64_t psum_offset = 0) {
  return make(Opcode::Matmul, Engine::PE, psum(128, n, psum_offset), sbuf(dtype, 128, n, 0));
}

TEST_CASE("PE costs one cycle per moving column, four for fp32", "[machine][cost]") {
  CHECK(cycles(matmul(Dtype::BF16, 512), trn2()) == 512);
  CHECK(cycles(matmul(Dtype::F32, 512), trn2()) == 2048);
  CHECK(cycles(matmul(Dtype::BF16, 8), trn2()) == 64);
  CHECK(ns_from_ticks(execution_ticks(cost_key(matmul(Dtype::BF16, 512)), trn1()), trn1()) == 182);
  CHECK(cycles(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::BF16, 128, 128, 0)), trn2()) == 32);
}

TEST_CASE("vector instructions follow the published rows", "[machine][cost]") {
  const Access f32 = sbuf(Dtype::F32, 128, 512, 0), bf16 = sbuf(Dtype::BF16, 128, 512, 0);
  MachineInst add = make(Opcode::TensorTensorArith, Engine::DVE, f32, f32, f32);
  add.op0 = AluOp::Add;
  CHECK(cycles(add, trn2()) == 1024);
  add.in0 = psum(128, 512, 0);
  CHECK(cycles(add, trn2()) == 512);
  add.in0 = add.in1 = add.out = bf16;
  CHECK(cycles(add, trn1()) == 512);
  add.op0 = AluOp::Max;
  CHECK(cycles(add, trn1()) == 1024);
  CHECK(cycles(add, trn2()) == 512);
  CHECK(cycles(make(Opcode::Copy, Engine::DVE, bf16, bf16), trn2()) == 128);
  CHECK(cycles(make(Opcode::Copy, Engine::DVE, bf16, bf16), trn1()) == 512);
  CHECK(cycles(make(Opcode::Copy, Engine::DVE, f32, f32), trn2()) == 512);
  CHECK(cycles(make(Opcode::Reciprocal, Engine::DVE, f32, f32), trn2()) == 4096);
  CHECK(cycles(make(Opcode::Iota, Engine::Pool, f32), trn2()) == 662);
  Access wide = f32;
  wide.dims[0].step = 4;
  CHECK(cycles(make(Opcode::Copy, Engine::DVE, f32, wide), trn2()) == 1024);
  MachineInst fill = make(Opcode::Memset, Engine::DVE, bf16);
  CHECK(cycles(fill, trn2()) == 256);
  fill.scalar0.bits = 1;
  CHECK(cycles(fill, trn2()) == 512);
}

TEST_CASE("an activation costs its elements, 64 at least, and 64 more to accumulate", "[machine][cost]") {
  MachineInst inst = make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 128, 512, 0),
                          sbuf(Dtype::F32, 128, 512, 0));
  CHECK(cycles(inst, trn2()) == 512);
  inst.accumulate = isa::AccumulateCommand::ZeroAccumulate;
  CHECK(cycles(inst, trn2()) == 576);
  inst.in0 = inst.out = sbuf(Dtype::F32, 128, 1, 0);
  inst.accumulate = isa::AccumulateCommand::Idle;
  CHECK(cycles(inst, trn2()) == 64);
}

TEST_CASE("weights load behind the previous matmul", "[machine][cost]") {
  EngineState state;
  const CostKey load = cost_key(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::BF16, 128, 128, 0)));
  const CostKey product = cost_key(matmul(Dtype::BF16, 512));
  CHECK(advance(state, load, trn2()).start == 0);
  CHECK(advance(state, product, trn2()).start == 64);  // 32 cycles of 2 ticks, nothing to hide behind
  const Timing second = advance(state, load, trn2());
  CHECK(second.start == 66);
  const Timing next = advance(state, product, trn2());
  CHECK(next.start == 64 + 1024);
  CHECK(next.cause == StallCause::None);
}

TEST_CASE("a dependent instruction waits 60 cycles after its producer's end, an independent one none",
          "[machine][cost]") {
  const Access a = sbuf(Dtype::F32, 128, 512, 0), b = sbuf(Dtype::F32, 128, 512, 4096),
               c = sbuf(Dtype::F32, 128, 512, 8192);
  EngineState state;
  const Timing first = advance(state, cost_key(make(Opcode::Copy, Engine::DVE, b, a)), trn2());
  EngineState other = state;
  const Timing dependent = advance(state, cost_key(make(Opcode::Copy, Engine::DVE, c, b)), trn2());
  CHECK(dependent.start == first.end + 60 * 5);
  CHECK(dependent.cause == StallCause::Dependence);
  CHECK(advance(other, cost_key(make(Opcode::Copy, Engine::DVE, c, a)), trn2()).start == first.end);
}

TEST_CASE("table loads cost 1300 ns when the set is not resident", "[machine][cost]") {
  EngineState state;
  MachineInst load = make(Opcode::ActivationTableLoad, Engine::Activation);
  load.table_set = 3;
  const Timing first = advance(state, cost_key(load), trn2());
  CHECK(ns_from_ticks(first.end - first.start, trn2()) == 1300);
  const Timing again = advance(state, cost_key(load), trn2());
  CHECK(again.end - again.start == 4);
}

TEST_CASE("engines share PSUM banks, and on trn1 the Pool and DVE port", "[machine][cost]") {
  EngineState state;
  advance(state, cost_key(matmul(Dtype::BF16, 512, 0)), trn2());
  const CostKey same =
      cost_key(make(Opcode::Copy, Engine::DVE, sbuf(Dtype::F32, 128, 8, 0), psum(128, 8, 0)));
  const CostKey other =
      cost_key(make(Opcode::Copy, Engine::DVE, sbuf(Dtype::F32, 128, 8, 0), psum(128, 8, 2048)));
  CHECK(preview(state, other, trn2()).start == 0);
  CHECK(preview(state, same, trn2()).start == 1024);
  CHECK(preview(state, same, trn2()).cause == StallCause::PsumBank);
  const CostKey on_pool = cost_key(
      make(Opcode::Copy, Engine::Pool, sbuf(Dtype::F32, 128, 512, 0), sbuf(Dtype::F32, 128, 512, 4096)));
  CostKey on_dve = on_pool;
  on_dve.engine = Engine::DVE;
  for (const ArchModel* arch : {&trn1(), &trn2()}) {
    EngineState ports;
    const Timing pool = advance(ports, on_pool, *arch);
    CHECK(advance(ports, on_dve, *arch).start == (arch->shares_pool_dve_port ? pool.end : 0));
  }
}

TEST_CASE("a DMA of 128 x 2048 bytes takes 1300 + 712 ns on trn2", "[machine][cost]") {
  const isa::DmaDescriptor d{dram(0, Dtype::F32, {{1, 128 * 512}}), sbuf(Dtype::F32, 128, 512, 0)};
  const DmaCost cost = dma_cost(d, trn2());
  for (int64_t bytes_of_engine : cost.engine_bytes) CHECK(bytes_of_engine == 8 * 2048);
  DmaState state(1);
  CHECK(ns_from_ticks(state.advance(0, cost, trn2(), 0).done, trn2()) == 2012);
}

TEST_CASE("short runs cost 512 bytes, a few partitions use few engines, DRAM copies use all",
          "[machine][cost]") {
  Access column = sbuf(Dtype::F32, 8, 64, 0);
  column.dims[0].step = 2;
  DmaCost cost = dma_cost({dram(0, Dtype::F32, {{1, 512}}), column}, trn2());
  CHECK(cost.engine_bytes[0] == 8 * 64 * 512);
  CHECK(cost.engine_bytes[1] == 0);
  cost = dma_cost({dram(0, Dtype::F32, {{1, 1 << 20}}), dram(1, Dtype::F32, {{1, 1 << 20}})}, trn2());
  CHECK(cost.any_engine);
  for (int64_t bytes_of_engine : cost.engine_bytes) CHECK(bytes_of_engine == (4 << 20) / 16);
  isa::DmaDescriptor transposed{dram(0, Dtype::BF16, {{1, 128 * 128}}), sbuf(Dtype::BF16, 128, 128, 0), true};
  CHECK(dma_cost(transposed, trn2()).engine_bytes[0] == (128 * 128 * 2 * 10 / 9 + 127) / 128 * 8);
}

TEST_CASE("sixteen transfers of a ring overlap their latency, the seventeenth waits for the first",
          "[machine][cost]") {
  const DmaCost cost = dma_cost({dram(0, Dtype::F32, {{1, 128 * 16}}), sbuf(Dtype::F32, 128, 16, 0)}, trn2());
  DmaState state(2);
  const Ticks latency = ticks_from_ns(1300, trn2());
  Ticks first_done = 0;
  for (int i = 0; i < 16; ++i) {
    CHECK(state.data_ready(0, 0, trn2()) == latency);
    const DmaTiming timing = state.advance(0, cost, trn2(), 0);
    if (i == 0) first_done = timing.done;
  }
  CHECK(state.data_ready(0, 0, trn2()) == first_done + latency);
  CHECK(state.data_ready(1, 0, trn2()) == latency);
}

TEST_CASE("every opcode that is legal somewhere has a cost row on each of its engines", "[machine][cost]") {
  for (int i = 0; i < static_cast<int>(Opcode::Opaque); ++i)
    for (Engine engine : isa::kStreamEngines) {
      const auto opcode = static_cast<Opcode>(i);
      if (!isa::is_legal(opcode, engine, 3)) continue;
      INFO(isa::info(opcode).mnemonic << " on " << isa::name(engine));
      CHECK(has_cost_row(opcode, engine));
    }
}

TEST_CASE("table sets hold every tabled function", "[machine][cost]") {
  for (int f = 0; f <= static_cast<int>(isa::ActivationFunction::IsFinite); ++f) {
    bool held = false;
    for (int set = 0; set < kNumTableSets; ++set)
      held = held || table_set_holds(set, static_cast<isa::ActivationFunction>(f));
    CHECK(held);
  }
}

}  // namespace
}  // namespace ncc::machine
