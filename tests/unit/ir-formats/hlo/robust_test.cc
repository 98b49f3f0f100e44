// Wrong input: one diagnostic with a position, never a crash, never memory in proportion to what the input
// only claims.
#include <google/protobuf/text_format.h>

#include <catch2/catch.hpp>

#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::hlo {
namespace {

std::string cause(const Result<std::unique_ptr<Module>>& result) {
  return result.is_ok() ? "ok" : result.status().diagnostic().to_string();
}

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST_CASE("errors in HLO text name line and column", "[hlo][text]") {
  CHECK_THAT(
      cause(read_hlo_text(
          "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] negate(z)\n}\n", "m.hlo")),
      Catch::Contains("at 4:26: unknown operand 'z'"));
  CHECK_THAT(cause(read_hlo_text("ENTRY e { x = f32[2] parameter(0)", "m.hlo")), Catch::Contains("EHLO001"));
  CHECK_THAT(cause(read_hlo_text("ENTRY e { c = f32[3] constant({1, 2}) }", "m.hlo")),
             Catch::Contains("2 elements, expected 3"));
  CHECK_THAT(cause(read_hlo_text("ENTRY e { c = s8[] constant(200) }", "m.hlo")),
             Catch::Contains("out of range of s8"));
  CHECK_THAT(cause(read_hlo_text("ENTRY e { c = f32[99] constant({...}) }", "m.hlo")),
             Catch::Contains("were left out"));
  CHECK_THAT(cause(read_hlo_text("ENTRY e { x = f32[2] parameter(0) ROOT y = frobnicate(x) }", "m.hlo")),
             Catch::Contains("unsupported op 'frobnicate'"));
}

TEST_CASE("errors in StableHLO text name line and column", "[hlo][mlir]") {
  const auto wrap = [](std::string_view body) {
    return fmt::format("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{\n  {}\n}}\n", body);
  };
  CHECK_THAT(cause(read_stablehlo(wrap("return %y : tensor<2xf32>"), "m.mlir")),
             Catch::Contains("at 2:10: unknown value %y"));
  CHECK_THAT(cause(read_stablehlo(wrap("%y = stablehlo.add %x %x : tensor<2xf32>"), "m.mlir")),
             Catch::Contains("at 2:25"));
  CHECK_THAT(cause(read_stablehlo(wrap("%y = stablehlo.frobnicate %x : tensor<2xf32>"), "m.mlir")),
             Catch::Contains("unsupported op 'stablehlo.frobnicate'") && Catch::Contains("m.mlir:2"));
  CHECK_THAT(cause(read_stablehlo(wrap("%y = stablehlo.negate %x : tensor<3xf32>"), "m.mlir")),
             Catch::Contains("found f32[3], expected f32[2]"));
  CHECK_THAT(
      cause(read_stablehlo(wrap("%c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>"), "m.mlir")),
      Catch::Contains("lists of shape [3]"));
}

TEST_CASE("nesting without end is refused", "[hlo]") {
  CHECK_FALSE(
      read_hlo_text("ENTRY e { x = " + repeated("(", 100000) + " parameter(0) }", "deep.hlo").is_ok());
  CHECK_FALSE(read_hlo_text("ENTRY e { ROOT x = " + repeated("negate(", 100000), "deep.hlo").is_ok());
  CHECK_FALSE(read_stablehlo("func.func @main(%x: " + repeated("tuple<", 100000), "deep.mlir").is_ok());
  CHECK_FALSE(read_stablehlo("#a = " + repeated("[", 100000), "deep.mlir").is_ok());
  CHECK_FALSE(read_stablehlo("func.func @main() { " + repeated("\"stablehlo.if\"() ({", 100000), "deep.mlir")
                  .is_ok());
  wire::ShapeProto shape;
  wire::ShapeProto* inner = &shape;
  for (int i = 0; i < 5000; ++i) {
    inner->set_element_type(13);
    inner = inner->add_tuple_shapes();
  }
  CHECK_FALSE(read_hlo_proto("\x0a\x01m\x1a" + shape.SerializePartialAsString(), "deep").is_ok());
}

TEST_CASE("claims of huge sizes cost nothing", "[hlo]") {
  CHECK_FALSE(read_hlo_text("ENTRY e { x = f32[9000000000,9000000000] parameter(0) }", "huge.hlo").is_ok());
  CHECK_FALSE(read_hlo_text("ENTRY e { x = f32[4000000000] constant({1}) }", "huge.hlo").is_ok());
  CHECK_FALSE(read_hlo_text("ENTRY e { x = f32[1] parameter(0) ROOT y = f32[1] all-reduce(x), "
                            "replica_groups=[1000000000,1000000000]<=[8], to_apply=z }",
                            "huge.hlo")
                  .is_ok());
  CHECK_FALSE(read_stablehlo("func.func @main(%x: tensor<9999999999x9999999999xf32>) { return }", "huge.mlir")
                  .is_ok());
  // A splat of 4 TiB is a broadcast scalar.
  const auto splat = read_stablehlo(
      "func.func @main() -> tensor<1048576x1048576xf32> {\n %c = stablehlo.constant dense<1.0> : "
      "tensor<1048576x1048576xf32>\n return %c : tensor<1048576x1048576xf32> }",
      "splat.mlir");
  REQUIRE(splat.is_ok());
  CHECK(splat.value()->entry()->root()->is(Opcode::Broadcast));
}

TEST_CASE("cycles of operands and of calls are refused", "[hlo][proto]") {
  const auto read = [](const char* text) {
    wire::HloModuleProto proto;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &proto));
    return cause(read_hlo_proto(proto.SerializeAsString(), "cycle"));
  };
  CHECK_THAT(read(R"(name: "m" entry_computation_id: 1 computations { name: "e" id: 1 root_id: 2
      instructions { name: "a" opcode: "negate" id: 1 operand_ids: 2 shape { element_type: 11 } }
      instructions { name: "b" opcode: "negate" id: 2 operand_ids: 1 shape { element_type: 11 } } })"),
             Catch::Contains("depends on itself"));
  CHECK_THAT(read(R"(name: "m" entry_computation_id: 1 computations { name: "e" id: 1 root_id: 2
      instructions { name: "a" opcode: "parameter" id: 1 shape { element_type: 11 } }
      instructions { name: "b" opcode: "call" id: 2 operand_ids: 1 called_computation_ids: 1 shape { element_type: 11 } } })"),
             Catch::Contains("calls itself"));
  CHECK_THAT(read(R"(name: "m" entry_computation_id: 1 computations { name: "e" id: 1 root_id: 1
      instructions { name: "a" opcode: "constant" id: 1 shape { element_type: 11 } } })"),
             Catch::Contains("left out of the file"));
}

TEST_CASE("a conditional without branch operands and huge windows are refused while shapes are derived",
          "[hlo][text]") {
  CHECK_FALSE(read_hlo_text("up { p = f32[] parameter(0) ROOT u = ceil(p) }\nENTRY e { p = s32[] "
                            "parameter(0) ROOT c = conditional(p), branch_computations={up, up, up} }",
                            "c.hlo")
                  .is_ok());
  const auto huge = read_hlo_text(
      "ENTRY e { x = f32[1099511627776] parameter(0) z = f32[] constant(0) ROOT y = f32[8] pad(x, z), "
      "padding=0_0_9223372036854775807 }",
      "p.hlo");
  REQUIRE(huge.is_ok());
  CHECK_THAT(verify(*huge.value()).diagnostic().to_string(), Catch::Contains("found f32[8]"));
}

TEST_CASE("a recursive function is refused", "[hlo][mlir]") {
  CHECK_THAT(cause(read_stablehlo("func.func @main(%x: tensor<f32>) -> tensor<f32> { %y = call @main(%x) : "
                                  "(tensor<f32>) -> tensor<f32>\n return %y : tensor<f32> }",
                                  "self.mlir")),
             Catch::Contains("calls itself"));
}

}  // namespace
}  // namespace ncc::hlo
