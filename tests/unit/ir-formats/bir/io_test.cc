#include <catch2/catch.hpp>

#include "ir-formats/bir/io.h"
#include "ir-formats/bir/verify.h"
#include "tests/unit/ir-formats/bir/kernel_builder.h"

namespace ncc::bir {
namespace {

Module rich_module() {
  Module module = testing::linear_layer(2);
  module.queues.push_back({"q_in", isa::QueueType::Input, Engine::SP, 16});
  Block& block = module.main().block;
  Instruction& act = block.instructions[2];
  Attributes& attrs = act.mutable_attrs();
  attrs.scale = 0.1f;
  attrs.mask[3] = 255;
  attrs.pattern_rank = 2;
  attrs.pattern = {Dim{-3, 7}, Dim{1, 2}};
  act.dependencies = {{0, EdgeKind::Flow}, {1, EdgeKind::Anti}};
  act.waits = {{isa::WaitMode::SemGeImm, 7, 300}};
  act.updates = {{isa::UpdateMode::SemInc, 2, 1}};
  act.ins.push_back(testing::Builder::immediate(-0.0f));
  block.instructions[0].queue = 0;
  return module;
}

TEST_CASE("a module read from its own JSON is the same module", "[bir]") {
  const Module module = rich_module();
  const std::string text = to_json(module);
  Result<Module> back = parse_json(text);
  REQUIRE(back.is_ok());
  CHECK(to_json(back.value()) == text);
  CHECK(to_binary(back.value()) == to_binary(module));
}

TEST_CASE("a module read from its own protobuf is the same module", "[bir]") {
  const Module module = rich_module();
  const std::string bytes = to_binary(module);
  Result<Module> back = parse_binary(bytes);
  REQUIRE(back.is_ok());
  CHECK(to_binary(back.value()) == bytes);
  CHECK(to_json(back.value()) == to_json(module));
}

TEST_CASE("a truncated or damaged protobuf gives a diagnostic", "[bir]") {
  const std::string bytes = to_binary(rich_module());
  for (size_t cut = 0; cut < bytes.size(); cut += 7) (void)parse_binary(bytes.substr(0, cut)).is_ok();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    Result<Module> back = parse_binary(damaged);
    if (back.is_ok()) (void)print(back.value());
  }
}

TEST_CASE("JSON with an unknown name is refused", "[bir]") {
  std::string text = to_json(rich_module());
  const size_t at = text.find("\"memsetref\": \"xs\"");
  REQUIRE(at != std::string::npos);
  text.replace(at, 17, "\"memsetref\": \"zz\"");
  Result<Module> back = parse_json(text);
  REQUIRE(!back.is_ok());
  CHECK(back.status().diagnostic().cause == "invalid BIR: 'memsetref' names the unknown 'zz'");
}

TEST_CASE("the text form names instructions, loops and accesses", "[bir]") {
  const std::string text = print(testing::linear_layer(2));
  CHECK(text.find("  loop k = 0..2 step 1 {\n"
                  "    load_x: Load DMA xs:float32(0, 0; [1,128] [1,64]) <- "
                  "x:float32(0, 8192*k; [64,128] [1,64])\n") != std::string::npos);
}

}  // namespace
}  // namespace ncc::bir
