// Wrong input: one diagnostic with a position, never a crash, never memory in proportion to what the input
// only claims.
#include <google/protobuf/text_format.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>

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

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Reads within a second and without memory in proportion to the claim.
template <class Read>
std::string quick_refusal(const Read& read) {
  const int64_t before = peak_kib();
  const auto begin = std::chrono::steady_clock::now();
  const std::string found = cause(read());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  CHECK(peak_kib() - before < 128 * 1024);
  CHECK(found != "ok");
  return found;
}

std::string proto_from(const std::string& instruction) {
  wire::HloModuleProto proto;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(
      "name: \"m\" id: 1 entry_computation_id: 1 computations { name: \"e\" id: 1 root_id: 1 instructions { "
      "name: \"a\" "
      "id: 1 " +
          instruction + " } }",
      &proto));
  return proto.SerializeAsString();
}

TEST_CASE("claims of gigabytes in a small file are refused at once", "[hlo]") {
  for (const char* instruction :
       {"opcode: \"constant\" shape { element_type: 11 dimensions: 1073741824 } literal { shape { "
        "element_type: 11 "
        "dimensions: 1073741824 } f32s: 1 }",
        "opcode: \"constant\" shape { element_type: 11 dimensions: 9223372036854775807 } literal { shape { "
        "element_type: "
        "11 dimensions: 9223372036854775807 } }",
        "opcode: \"parameter\" shape { element_type: 11 dimensions: [2147483648, 2147483648, 2147483648] }",
        "opcode: \"all-gather\" shape { element_type: 11 } collective_device_list { iota_replica_group_list "
        "{ "
        "num_replica_groups: 1000000000 num_devices_per_group: 1000000000 iota_reshape_dims: 1000000000 } }",
        "opcode: \"parameter\" parameter_number: 9223372036854775807 shape { element_type: 11 }",
        "opcode: \"negate\" operand_ids: 9223372036854775807 shape { element_type: 11 }"}) {
    INFO(instruction);
    quick_refusal([&] { return read_hlo_proto(proto_from(instruction), "claim"); });
  }
  // A length that reaches behind the end of the file.
  CHECK_THAT(quick_refusal([] { return read_hlo_proto("\x0a\x01m\x28\x01\x1a\xff\xff\xff\xff\x07", "cut"); }),
             Catch::Contains("malformed at byte 5"));
  for (const char* text : {"ENTRY e { ROOT x = f32[2] parameter(9223372036854775807) }",
                           "ENTRY e { ROOT c = s8[4294967296] constant({1, 2}) }",
                           "ENTRY e { ROOT c = s8[4294967296] constant({1 2 3 4 5 6 7}) }",
                           "ENTRY e { x = f32[1] parameter(0) ROOT y = f32[1] all-gather(x), "
                           "replica_groups=[99999999,9999]<=[99999999,9999], "
                           "dimensions={0} }"}) {
    INFO(text);
    quick_refusal([&] { return read_hlo_text(text, "claim.hlo"); });
  }
  for (const char* text :
       {"func.func @f() { %c = stablehlo.constant dense<\"0x0001\"> : tensor<4294967296xi8>\n return }",
        "func.func @f() { %c = stablehlo.constant dense<[1, 2]> : tensor<4294967296xi8>\n return }",
        "func.func @f() { %c = stablehlo.constant dense_resource<b> : tensor<4294967296xi8>\n return }\n{-# "
        "dialect_resources: { builtin: { b: \"0x0400000001\" } } #-}",
        "func.func @f(%x: tensor<f32>) { %r:9223372036854775807 = stablehlo.abs %x : tensor<f32>\n return "
        "}"}) {
    INFO(text);
    quick_refusal([&] { return read_stablehlo(text, "claim.mlir"); });
  }
}

TEST_CASE("locations that multiply without end are cut", "[hlo][mlir]") {
  std::string text = "#l0 = loc(\"f\":1:1)\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("#l{} = loc(callsite(#l{} at #l{}))\n", i + 1, i, i);
  text +=
      "func.func @main(%x: tensor<f32>) -> tensor<f32> { %y = stablehlo.abs %x : tensor<f32> "
      "loc(\"n\"(#l64))\n return "
      "%y : tensor<f32> }";
  const auto begin = std::chrono::steady_clock::now();
  CHECK(read_stablehlo(text, "l.mlir").is_ok());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

TEST_CASE("an error in a proto names the byte of its instruction", "[hlo][proto]") {
  const std::string bytes = proto_from("opcode: \"frobnicate\" shape { element_type: 11 }");
  const size_t offset = bytes.find(
                            "\x0a\x01"
                            "a") -
                        2;  // behind the tag and the length
  CHECK_THAT(cause(read_hlo_proto(bytes, "bad")),
             Catch::Contains("unsupported op 'frobnicate'") &&
                 Catch::Contains(fmt::format("(instruction at byte {})", offset)));
}

TEST_CASE("large values of a proto stay where they are when somebody keeps them", "[hlo][proto]") {
  wire::HloModuleProto proto;
  REQUIRE(proto.ParseFromString(
      proto_from("opcode: \"constant\" shape { element_type: 11 dimensions: 5000 } literal { "
                 "shape { element_type: 11 dimensions: 5000 } }")));
  auto* values = proto.mutable_computations(0)->mutable_instructions(0)->mutable_literal()->mutable_f32s();
  for (int i = 0; i < 5000; ++i) values->Add(static_cast<float>(i));
  const auto file = std::make_shared<std::string>(proto.SerializeAsString());
  const auto inside = [&](const Module& module) {
    const auto* at = reinterpret_cast<const char*>(module.entry()->root()->literal.bytes().data());
    return at >= file->data() && at < file->data() + file->size();
  };
  const auto kept = read_hlo_proto(*file, "kept", file);
  const auto copied = read_hlo_proto(*file, "copied");
  REQUIRE(kept.is_ok());
  REQUIRE(copied.is_ok());
  CHECK(inside(*kept.value()));
  CHECK_FALSE(inside(*copied.value()));
  for (const auto* module : {&kept.value(), &copied.value()}) {
    CHECK((*module)->entry()->root()->literal.at<float>(4999) == 4999);
  }
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
