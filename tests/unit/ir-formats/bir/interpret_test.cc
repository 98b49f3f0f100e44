#include "ir-formats/bir/interpret.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unit/ir-formats/bir/linear_data.h"

namespace ncc::bir {
namespace {

using testing::Builder;

TEST_CASE("bir_sim runs a kernel with a loop before anything is allocated", "[bir]") {
  const testing::LinearData data(2);
  Result<Tensors> outputs = interpret(testing::linear_layer(2), {}, data.inputs);
  REQUIRE(outputs.is_ok());
  CHECK((testing::as_floats(outputs.value().at("y")) == data.expected));
}

TEST_CASE("bir_sim finds a read of memory that nothing wrote", "[bir]") {
  Module module = testing::linear_layer(2);
  module.main().block.instructions.erase(module.main().block.instructions.begin());  // the load of the bias
  Result<Tensors> outputs = interpret(module, {}, testing::LinearData(2).inputs);
  REQUIRE(!outputs.is_ok());
  CHECK(outputs.status().diagnostic().code == Code::ESIM003);
  CHECK(outputs.status().diagnostic().loc.file == "model.py");
}

TEST_CASE("bir_sim names a missing input", "[bir]") {
  Result<Tensors> outputs = interpret(testing::linear_layer(2), {}, {});
  REQUIRE(!outputs.is_ok());
  CHECK(outputs.status().diagnostic().cause == "input 'x' of the program: not given");
}

TEST_CASE("a hook sees every instruction with its results", "[bir]") {
  const testing::LinearData data(2);
  int matmults = 0;
  std::vector<std::byte> bytes;
  InterpretOptions options;
  options.after_instruction = [&](const Executed& executed) {
    if (executed.instruction.opcode != Opcode::Matmult) return Status::ok();
    ++matmults;
    return executed.read(executed.instruction.outs[0], bytes);
  };
  REQUIRE(interpret(testing::linear_layer(2), {}, data.inputs, options).is_ok());
  CHECK(matmults == 2);
  CHECK(bytes.size() == 32 * 64 * 4);
}

TEST_CASE("a transfer of more dimensions than a descriptor has is split and copies the same elements",
          "[bir]") {
  // [2, 3, 4, 5, 6] in DRAM to the same shape with dims 1 and 2 swapped, through SBUF partitions of 5 x 6
  // elements.
  Builder b;
  const uint32_t x = b.set("x", Memory::Dram, Dtype::F32, {2, 3, 4, 5, 6}, TensorKind::ExternalInput);
  const uint32_t y = b.set("y", Memory::Dram, Dtype::F32, {2, 4, 3, 5, 6}, TensorKind::ExternalOutput);
  b.add("copy", Opcode::DMACopy, Engine::DMA, {b.ap(x, {{360, 2}, {30, 4}, {120, 3}, {6, 5}, {1, 6}})},
        {b.ap(y, {{360, 2}, {90, 4}, {30, 3}, {6, 5}, {1, 6}})});
  std::vector<float> in(720), expected(720);
  for (int i = 0; i < 720; ++i) in[i] = static_cast<float>(i);
  for (int a = 0; a < 2; ++a)
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 3; ++q)
        for (int r = 0; r < 30; ++r)
          expected[((a * 4 + p) * 3 + q) * 30 + r] = in[((a * 3 + q) * 4 + p) * 30 + r];
  Result<Tensors> outputs = interpret(b.take(), {}, {{"x", testing::as_bytes(in)}});
  REQUIRE(outputs.is_ok());
  CHECK((testing::as_floats(outputs.value().at("y")) == expected));
}

}  // namespace
}  // namespace ncc::bir
