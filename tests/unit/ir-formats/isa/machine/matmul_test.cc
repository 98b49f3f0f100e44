// PE: the order of additions (M2), accumulate flags, operand types, transposes.
#include <cmath>
#include <random>

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

constexpr uint8_t kStart = 1, kAccumulate = 4;

std::vector<float> random_values(size_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> values(count);
  for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

TEST_CASE("every PSUM element is one FMA chain with k ascending, then one addition (M2)", "[machine]") {
  for (const auto& [k, m, n] :
       {std::array<int, 3>{128, 128, 512}, {7, 5, 19}, {64, 6, 16}, {1, 1, 1}, {33, 127, 3}}) {
    Core core;
    const std::vector<float> w = random_values(static_cast<size_t>(k * m), 1),
                             x = random_values(static_cast<size_t>(k * n), 2);
    core.put(sbuf(Dtype::F32, k, m, 0), w);
    core.put(sbuf(Dtype::F32, k, n, 1024), x);
    core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F32, k, m, 0)));
    MachineInst inst = make(Opcode::Matmul, Engine::PE, psum(m, n, 0), sbuf(Dtype::F32, k, n, 1024));
    inst.accumulate_flags = kStart;
    core.run(inst);
    inst.accumulate_flags = kAccumulate;
    core.run(inst);
    const std::vector<float> got = core.get<float>(inst.out);
    bool equal = true;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int c = 0; c < k; ++c)
          sum = std::fma(w[static_cast<size_t>(c * m + i)], x[static_cast<size_t>(c * n + j)], sum);
        equal = equal && got[static_cast<size_t>(i * n + j)] == sum + sum;
      }
    CHECK(equal);
  }
}

TEST_CASE("bf16 and fp8 operands widen exactly", "[machine]") {
  Core core;
  core.put<uint16_t>(sbuf(Dtype::BF16, 2, 2, 0),
                     {bf16_from_f32(1), bf16_from_f32(2), bf16_from_f32(3), bf16_from_f32(4)});
  core.put<uint16_t>(sbuf(Dtype::BF16, 2, 1, 64), {bf16_from_f32(0.5f), bf16_from_f32(-1)});
  core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::BF16, 2, 2, 0)));
  MachineInst inst = make(Opcode::Matmul, Engine::PE, psum(2, 1, 0), sbuf(Dtype::BF16, 2, 1, 64));
  inst.accumulate_flags = kStart;
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{0.5f - 3, 1 - 4});
  core.put<uint8_t>(sbuf(Dtype::F8E4M3FN, 2, 2, 0), {0x38, 0x40, 0x44, 0x48});  // 1 2 3 4
  core.put<uint8_t>(sbuf(Dtype::F8E4M3FN, 2, 1, 64), {0x30, 0xB8});             // 0.5 -1
  core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F8E4M3FN, 2, 2, 0)));
  inst.in0 = sbuf(Dtype::F8E4M3FN, 2, 1, 64);
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{0.5f - 3, 1 - 4});
}

TEST_CASE("START overwrites exactly its destination; accumulating into unwritten PSUM is an error",
          "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 1, 0), {2});
  core.put<float>(sbuf(Dtype::F32, 1, 4, 64), {1, 2, 3, 4});
  core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F32, 1, 1, 0)));
  MachineInst inst = make(Opcode::Matmul, Engine::PE, psum(1, 4, 0), sbuf(Dtype::F32, 1, 4, 64));
  inst.accumulate_flags = kAccumulate;
  CHECK(core.fails(inst).find("ESIM003") != std::string::npos);
  inst.accumulate_flags = kStart;
  core.run(inst);
  inst.in0 = sbuf(Dtype::F32, 1, 2, 72);
  inst.out = psum(1, 2, 4);
  core.run(inst);
  CHECK(core.get<float>(psum(1, 4, 0)) == std::vector<float>{2, 6, 8, 8});
}

TEST_CASE("transpose mode moves bits, NaN payloads included; it is absent on trn1", "[machine]") {
  Core core;
  std::vector<float> identity(9, 0.0f), data = {1, 2, 3, 4, 5, 6};
  for (size_t i = 0; i < 3; ++i) identity[i * 4] = 1;
  const uint32_t payload = 0x7FA12345;
  std::memcpy(&data[3], &payload, 4);
  core.put(sbuf(Dtype::F32, 3, 3, 0), identity);
  core.put(sbuf(Dtype::F32, 3, 2, 64), data);
  core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F32, 3, 3, 0)));
  MachineInst inst = make(Opcode::Matmul, Engine::PE, psum(2, 3, 0), sbuf(Dtype::F32, 3, 2, 64));
  inst.is_transpose = true;
  inst.accumulate_flags = kStart;
  core.run(inst);
  std::vector<uint32_t> want(6);
  const float order[] = {data[0], data[2], data[4], data[1], data[3], data[5]};
  std::memcpy(want.data(), order, 24);
  CHECK(core.get<uint32_t>(psum(2, 3, 0, Dtype::U32)) == want);
  Core old("trn1");
  old.put(sbuf(Dtype::F32, 3, 3, 0), identity);
  old.put(sbuf(Dtype::F32, 3, 2, 64), data);
  old.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F32, 3, 3, 0)));
  CHECK(old.fails(inst).find("transpose mode on trn1") != std::string::npos);
}

TEST_CASE("PE refuses mixed fp32, PSUM sources, bank crossings and wide moving tiles", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 1, 0), {2});
  core.put<uint16_t>(sbuf(Dtype::BF16, 1, 600, 64), std::vector<uint16_t>(600, 0));
  core.put<float>(sbuf(Dtype::F32, 1, 600, 4096), std::vector<float>(600, 0));
  core.run(make(Opcode::Ldweights, Engine::PE, {}, sbuf(Dtype::F32, 1, 1, 0)));
  MachineInst inst = make(Opcode::Matmul, Engine::PE, psum(1, 4, 0), sbuf(Dtype::BF16, 1, 4, 64));
  inst.accumulate_flags = kStart;
  CHECK(core.fails(inst).find("same type on both sides") != std::string::npos);
  inst = make(Opcode::Matmul, Engine::PE, psum(1, 600, 0), sbuf(Dtype::F32, 1, 600, 4096));
  CHECK(core.fails(inst).find("at most 512") != std::string::npos);
  inst = make(Opcode::Matmul, Engine::PE, psum(1, 4, 2040), sbuf(Dtype::F32, 1, 4, 4096));
  CHECK(core.fails(inst).find("crosses a PSUM bank") != std::string::npos);
  inst.in0 = psum(1, 4, 0);
  CHECK(core.fails(inst).find("PE reads SBUF only") != std::string::npos);
}

}  // namespace
}  // namespace ncc::machine
