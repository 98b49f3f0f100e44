// What readers keep and writers say: proto and text of one module are fixed points of each other, whatever it
// holds.
#include <google/protobuf/text_format.h>

#include <catch2/catch.hpp>
#include <set>

#include "common/files/files.h"
#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

std::unique_ptr<Module> take(Result<std::unique_ptr<Module>> result) {
  if (!result.is_ok()) FAIL(result.status().diagnostic().to_string());
  return result.take();
}

std::string proto_of(const Module& module) {
  Result<std::string> bytes = write_hlo_proto(module);
  if (!bytes.is_ok()) FAIL(bytes.status().diagnostic().to_string());
  return bytes.take();
}

// text -> proto -> text and proto -> text -> proto change nothing. Returns the module read back from the
// proto.
std::unique_ptr<Module> check_fixed_point(const Module& module) {
  const std::string text = print_hlo(module), proto = proto_of(module);
  const auto from_proto = take(read_hlo_proto(proto, "written"));
  const auto from_text = take(read_hlo_text(text, "written.hlo"));
  CHECK(print_hlo(*from_proto) == text);
  CHECK(print_hlo(*from_text) == text);
  CHECK((proto_of(*from_text) == proto));
  std::string difference;
  if (!same_module(module, *from_proto, &difference)) FAIL_CHECK(difference);
  if (!same_module(module, *from_text, &difference)) FAIL_CHECK(difference);
  return take(read_hlo_proto(proto, "written"));
}

const Instruction* find(const Module& module, std::string_view name) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (inst->name == name) return inst.get();
    }
  }
  FAIL("no instruction " << name);
  return nullptr;
}

TEST_CASE("every HLO opcode is read, verified, written and read back", "[hlo][write]") {
  const std::string path = NCC_SOURCE_DIR "/tests/data/readers/every_op.hlo";
  const auto module = take(read_module(path));
  const Status status = verify(*module);
  if (!status.is_ok()) FAIL_CHECK(status.diagnostic().to_string());
  check_fixed_point(*module);
  std::set<std::string_view> seen;
  for (const auto& computation : module->computations()) {
    for (const auto& inst : computation->instructions()) seen.insert(name(inst->opcode));
  }
  // Newer than XLA's text parser.
  const std::set<std::string_view> newer = {"atan", "shuffle", "collective-reduce", "scaled-dot"};
  for (const OpInfo& row : all_opcodes()) {
    if (row.origin == OpOrigin::Hlo && newer.count(row.hlo) == 0 && seen.count(row.hlo) == 0)
      FAIL_CHECK("the file has no " << row.hlo);
  }
}

TEST_CASE("call stacks and the rarer metadata survive every form", "[hlo][locations]") {
  const auto module = take(read_stablehlo(R"(
    #inner = loc("layer.py":12:4 to :9)
    #outer = loc("train.py":90:2 to 91:7)
    func.func @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
      %0 = stablehlo.negate %x : tensor<f32> loc("jit(step)/neg"(callsite("forward"(#inner) at "step"(#outer))))
      %1 = stablehlo.abs %0 : tensor<f32> loc(fused<"pass">["jit(step)/abs", #outer])
      return %1 : tensor<f32>
    })",
                                          "model.mlir"));
  CHECK(module->stack_frames.files == std::vector<std::string>{"train.py", "layer.py"});
  CHECK(module->stack_frames.functions == std::vector<std::string>{"step", "forward", ""});
  const auto back = check_fixed_point(*module);
  const Instruction* negate = back->entry()->root()->operand(0);
  CHECK(to_string(negate->loc) == "jit(step)/neg (layer.py:12)");
  REQUIRE(negate->loc_details);
  const StackFrames::Frame frame =
      back->stack_frames.frames[static_cast<size_t>(negate->loc_details->stack_frame - 1)];
  const StackFrames::Place place = back->stack_frames.places[static_cast<size_t>(frame.place - 1)];
  CHECK(place.column == 4);
  CHECK(place.end_column == 9);
  CHECK(back->stack_frames.location(frame.parent) == SourceLoc{"", "train.py", 90});
}

TEST_CASE("lines of the model text are not written as locations unless asked for", "[hlo][locations]") {
  const auto module =
      take(read_hlo_text("ENTRY e {\n x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x)\n}", "m.hlo"));
  CHECK(module->entry()->root()->loc == SourceLoc{"", "m.hlo", 3});
  CHECK(print_hlo(*module).find("metadata") == std::string::npos);
  CHECK(print_hlo(*module, {-1, true, true, true}).find("source_line=3") != std::string::npos);
  const auto bytes = write_hlo_proto(*module, {true});
  CHECK(take(read_hlo_proto(bytes.value(), "p"))->entry()->root()->loc.line == 3);
}

TEST_CASE("quantized element types travel beside their storage types", "[hlo][write]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:1,0.25:-2,1.0e-3}>>) -> tensor<2x3xf32> {
      %0 = stablehlo.uniform_dequantize %x : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5:1,0.25:-2,1.0e-3}>>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    })",
                                          "q.mlir"));
  CHECK(print_hlo(*module).find("s8[2,3]{1,0} parameter(0), frontend_attributes={raw.quantization=") !=
        std::string::npos);
  const auto back = check_fixed_point(*module);
  const Shape& shape = back->entry()->parameters()[0]->shape;
  REQUIRE(shape.quantization);
  CHECK(shape.quantization->axis == 1);
  CHECK(shape.quantization->scales == std::vector<double>{0.5, 0.25, 1e-3});
  CHECK(shape.quantization->zero_points == std::vector<int64_t>{1, -2, 0});
}

TEST_CASE("fields of newer protos are kept, and the text carries an instruction's", "[hlo][proto]") {
  wire::HloModuleProto proto;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(R"(name: "m" entry_computation_id: 1 id: 7
    computations { name: "e" id: 1 root_id: 1
      instructions { name: "a" opcode: "parameter" id: 1 shape { element_type: 11 }
                     metadata { op_type: "T" op_name: "N" scheduling_name: "s" source_column: 4 } } })",
                                                        &proto));
  const auto add = [](google::protobuf::Message* message, int field) {
    message->GetReflection()->MutableUnknownFields(message)->AddVarint(field, 77);
  };
  add(&proto, 300);
  wire::HloInstructionProto* inst = proto.mutable_computations(0)->mutable_instructions(0);
  add(inst, 301);
  add(inst->mutable_metadata(), 302);
  const auto module = take(read_hlo_proto(proto.SerializeAsString(), "m"));
  const std::string bytes = proto_of(*module);
  wire::HloModuleProto written;
  REQUIRE(written.ParseFromString(bytes));
  const auto kept = [](const google::protobuf::Message& message, int field) {
    const auto& unknown = message.GetReflection()->GetUnknownFields(message);
    return unknown.field_count() == 1 && unknown.field(0).number() == field &&
           unknown.field(0).varint() == 77;
  };
  CHECK(kept(written, 300));
  CHECK(kept(written.computations(0).instructions(0), 301));
  CHECK(kept(written.computations(0).instructions(0).metadata(), 302));
  CHECK(written.computations(0).instructions(0).metadata().op_type() == "T");
  const auto text = take(read_hlo_text(print_hlo(*module), "m.hlo"));
  CHECK(text->entry()->root()->attrs().unknown_fields == module->entry()->root()->attrs().unknown_fields);
  CHECK(text->entry()->root()->loc_details->scheduling_name == "s");
}

TEST_CASE("names that HLO text reserves are changed", "[hlo][write]") {
  const auto module = take(read_stablehlo(
      "func.func @main(%s8: tensor<f32>) -> tensor<f32> { return %s8 : tensor<f32> }", "names.mlir"));
  CHECK(module->entry()->root()->name == "s8_");
  check_fixed_point(*module);
}

TEST_CASE("attribute names that are no names of HLO text, and shardings that are none, survive",
          "[hlo][write]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<f32> {mhlo.sharding = "{}replicated}"}) -> tensor<f32> {
      %0 = stablehlo.negate %x {mhlo.frontend_attributes = {"a b" = "1", "hex.61" = "2", c = "3"}, "d.x y" = 7 : i64} : tensor<f32>
      return %0 : tensor<f32>
    })",
                                          "odd.mlir"));
  const auto back = check_fixed_point(*module);
  CHECK(back->entry()->root()->attrs().find("a b") == "1");
  CHECK(back->entry()->root()->attrs().find("hex.61") == "2");
  CHECK(back->entry()->root()->attrs().find("d.x y") == "7 : i64");
  CHECK(back->entry()->parameters()[0]->attrs().sharding.empty());
}

TEST_CASE("NaN payloads of every float type survive the text", "[hlo][write]") {
  const auto module = take(read_hlo_text(
      "HloModule nans\nENTRY e {\n a = f8e5m2[3] constant({nan, -nan(0x1), nan(0x3)})\n b = f8e4m3[2] "
      "constant({nan(0x5), -nan})\n c = f8e3m4[2] constant({nan(0x1), -nan(0xf)})\n d = f8e4m3fn[2] "
      "constant({nan, "
      "-nan})\n f = f64[1] constant({-nan(0x123)})\n g = f8e8m0fnu[1] constant({nan})\n ROOT t = (f8e5m2[3], "
      "f8e4m3[2], f8e3m4[2], f8e4m3fn[2], f64[1], f8e8m0fnu[1]) tuple(a, b, c, d, f, g)\n}",
      "nan.hlo"));
  CHECK(find(*module, "a")->literal.at<uint8_t>(1) == 0xFD);
  CHECK(find(*module, "c")->literal.at<uint8_t>(1) == 0xFF);
  check_fixed_point(*module);
}

TEST_CASE("narrow element types survive as text and as protos", "[hlo][write]") {
  const auto module = take(read_hlo_text(
      "HloModule narrow\nENTRY e {\n a = s1[2] constant({0, -1})\n b = u1[2] constant({0, 1})\n c = s2[2] "
      "constant({-2, 1})\n d = f4e2m1fn[2] constant({0.5, -6})\n f = f6e2m3fn[3] constant({1, -7.5, "
      "0.125})\n "
      "g = f6e3m2fn[3] constant({1, -28, 0.0625})\n ROOT t = (s1[2], u1[2], s2[2], f4e2m1fn[2], f6e2m3fn[3], "
      "f6e3m2fn[3]) tuple(a, b, c, d, f, g)\n}",
      "narrow.hlo"));
  CHECK(find(*module, "a")->literal.as_int64(1) == -1);
  CHECK(find(*module, "b")->literal.as_int64(1) == 1);
  CHECK(find(*module, "f")->literal.at<uint8_t>(1) == 0x3F);
  CHECK(find(*module, "g")->literal.at<uint8_t>(1) == 0x3F);
  CHECK(find(*module, "f")->literal.as_double(2) == 0.125);
  CHECK(find(*module, "g")->literal.as_double(2) == 0.0625);
  check_fixed_point(*module);
}

TEST_CASE("shardings of every style survive, named ones as protos too", "[hlo][write]") {
  const auto module =
      take(read_hlo_text("HloModule s, num_partitions=8\nENTRY e {\n  a = f32[8,8] parameter(0), "
                         "sharding={devices=[4,2]<=[8]}\n  b = "
                         "f32[8,8] parameter(1), sharding={devices=[2,1,2,2]0,1,2,3,4,5,6,7 "
                         "last_tile_dims={manual, replicated}}\n  c = "
                         "f32[8,8] parameter(2), sharding={mesh['dp'=2,'tp'=4], [{'dp'}, {'tp':(1)2, ?}], "
                         "replicated={'tp':(2)2}}\n  d = "
                         "f32[8,8] parameter(3), sharding={maximal device=3}\n  g = f32[8,8] add(a, b), "
                         "sharding={unknown shard_like 2}\n  "
                         "ROOT t = (f32[8,8], f32[8,8], f32[8,8]) tuple(g, c, d), sharding={{replicated}, "
                         "{manual}, {maximal device=1}}\n}",
                         "s.hlo"));
  check_fixed_point(*module);
  wire::HloModuleProto proto;
  REQUIRE(proto.ParseFromString(proto_of(*module)));
  for (const auto& inst : proto.computations(0).instructions()) {
    CHECK(inst.has_sharding());
    CHECK(inst.sharding().has_named_sharding() == (inst.name() == "c"));
  }
}

TEST_CASE("scan and convolution kinds have their wire fields", "[hlo][proto]") {
  const auto module = take(read_module(NCC_SOURCE_DIR "/tests/data/readers/every_op.hlo"));
  wire::HloModuleProto proto;
  REQUIRE(proto.ParseFromString(proto_of(*module)));
  for (const auto& computation : proto.computations()) {
    for (const auto& inst : computation.instructions()) {
      if (inst.opcode() != "scan") continue;
      CHECK(inst.is_reverse());
      CHECK(inst.num_carries() == 1);
      CHECK(inst.is_associative() == 1);
    }
  }
  const auto wgrad =
      take(read_hlo_text("ENTRY e { x = f32[1,8,4] parameter(0) k = f32[3,4,4] parameter(1) ROOT c = "
                         "f32[1,6,4] convolution(x, k), "
                         "window={size=3}, dim_labels=b0f_0io->b0f, convolution_kind=wgrad }",
                         "c.hlo"));
  CHECK(wgrad->entry()->root()->attrs().conv_kind == 3);
  check_fixed_point(*wgrad);
}

}  // namespace
}  // namespace ncc::hlo
