// One small model in the three input forms, and what the readers make of each form's own ways.
#include <google/protobuf/text_format.h>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "common/files/files.h"
#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

constexpr std::string_view kMlir = R"(
#here = loc("dense.py":7:3)
module @tiny {
  func.func public @main(%arg0: tensor<2x3xf32> loc("x"), %arg1: tensor<3x4xf32> loc("w"), %arg2: tensor<4xf32> loc("b")) -> tensor<2xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("layer/dot"(#here))
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
    %3 = stablehlo.maximum %2, %zero : tensor<2x4xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    return %4 : tensor<2xf32>
  }
}
)";

constexpr std::string_view kText = R"(
HloModule tiny

top { l = f32[] parameter(0) r = f32[] parameter(1) ROOT m = maximum(l, r) }

ENTRY %main (x: f32[2,3], w: f32[3,4], b: f32[4]) -> f32[2] {
  %x = f32[2,3]{1,0} parameter(0)
  %w = f32[3,4]{1,0} parameter(1)
  %b = f32[4]{0} parameter(2)
  d = f32[2,4] dot(x, w), rhs_contracting_dims={0}, lhs_contracting_dims={1}, metadata={op_name="layer/dot" source_file="dense.py" source_line=7}
  wide = f32[2,4] broadcast(b), dimensions={1}
  sum = add(d, wide)  // shape derived
  relu = maximum(sum, f32[2,4] broadcast(f32[] constant(0)))
  low = f32[] constant(-inf)
  ROOT result = f32[2]{0} reduce(f32[2,4]{1,0} relu, low), dimensions={1}, to_apply=top
}
)";

constexpr const char* kProto = R"(
name: "tiny" entry_computation_name: "main" entry_computation_id: 9 id: 1
computations { name: "main" id: 9 root_id: 10
  instructions { name: "result" opcode: "reduce" id: 10 operand_ids: [8, 9] dimensions: 1 called_computation_ids: 4
                 shape { element_type: 11 dimensions: 2 } }
  instructions { name: "x" opcode: "parameter" id: 1 shape { element_type: 11 dimensions: [2, 3] layout { minor_to_major: [1, 0] } } }
  instructions { name: "w" opcode: "parameter" id: 2 parameter_number: 1 shape { element_type: 11 dimensions: [3, 4] } }
  instructions { name: "b" opcode: "parameter" id: 3 parameter_number: 2 shape { element_type: 11 dimensions: 4 } }
  instructions { name: "d" opcode: "dot" id: 4 operand_ids: [1, 2] shape { element_type: 11 dimensions: [2, 4] }
                 dot_dimension_numbers { lhs_contracting_dimensions: 1 rhs_contracting_dimensions: 0 }
                 metadata { op_name: "layer/dot" stack_frame_id: 1 } }
  instructions { name: "wide" opcode: "broadcast" id: 5 operand_ids: 3 dimensions: 1 shape { element_type: 11 dimensions: [2, 4] } }
  instructions { name: "sum" opcode: "add" id: 6 operand_ids: [4, 5] shape { element_type: 11 dimensions: [2, 4] } }
  instructions { name: "zero" opcode: "constant" id: 7 shape { element_type: 11 } literal { shape { element_type: 11 } f32s: 0 } }
  instructions { name: "zeros" opcode: "broadcast" id: 11 operand_ids: 7 shape { element_type: 11 dimensions: [2, 4] } }
  instructions { name: "relu" opcode: "maximum" id: 8 operand_ids: [6, 11] shape { element_type: 11 dimensions: [2, 4] } }
  instructions { name: "low" opcode: "constant" id: 9 shape { element_type: 11 } literal { shape { element_type: 11 } f32s: -inf } }
}
computations { name: "top" id: 4 root_id: 3
  instructions { name: "l" opcode: "parameter" id: 1 shape { element_type: 11 } }
  instructions { name: "r" opcode: "parameter" id: 2 parameter_number: 1 shape { element_type: 11 } }
  instructions { name: "m" opcode: "maximum" id: 3 operand_ids: [1, 2] shape { element_type: 11 } }
}
stack_frame_index { file_names: "dense.py" function_names: "f"
  file_locations { file_name_id: 1 function_name_id: 1 line: 7 } stack_frames { file_location_id: 1 } }
)";

std::string proto_bytes(const char* text) {
  wire::HloModuleProto proto;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &proto));
  return proto.SerializeAsString();
}

std::unique_ptr<Module> take(Result<std::unique_ptr<Module>> result) {
  if (!result.is_ok()) FAIL(result.status().diagnostic().to_string());
  return result.take();
}

TEST_CASE("the three forms of one model give the same module", "[hlo]") {
  const auto proto = take(read_hlo_proto(proto_bytes(kProto), "tiny"));
  const auto text = take(read_hlo_text(kText, "tiny.hlo"));
  const auto mlir = take(read_stablehlo(kMlir, "tiny.mlir"));
  std::string difference;
  for (const Module* module : {proto.get(), text.get(), mlir.get()}) {
    CHECK(verify(*module).is_ok());
    if (!same_module(*proto, *module, &difference)) FAIL_CHECK(difference);
    const Instruction* dot = nullptr;
    for (const auto& inst : module->entry()->instructions()) {
      if (inst->is(Opcode::Dot)) dot = inst.get();
    }
    REQUIRE(dot);
    CHECK(to_string(dot->loc) == "layer/dot (dense.py:7)");
  }
}

TEST_CASE("modules and functions in generic form are those of the pretty form", "[hlo][mlir]") {
  const auto pretty = take(read_stablehlo(R"(
    module @two attributes {mhlo.num_partitions = 2 : i32} {
      func.func public @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2xf32> {jax.result_info = "y"}) {
        %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
        return %0 : tensor<2xf32>
      }
      func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = stablehlo.add %x, %x : tensor<2xf32>
        return %0 : tensor<2xf32>
      }
    })",
                                          "pretty.mlir"));
  constexpr std::string_view kGeneric = R"("builtin.module"() <{sym_name = "two"}> ({
    "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}], function_type = (tensor<2xf32>) -> tensor<2xf32>,
                    res_attrs = [{jax.result_info = "y"}], sym_name = "main", sym_visibility = "public"}> ({
    ^bb0(%x: tensor<2xf32> loc("x")):
      %0 = "func.call"(%x) <{callee = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
      "func.return"(%0) : (tensor<2xf32>) -> ()
    }) : () -> ()
    "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "twice", sym_visibility = "private"}> ({
    ^bb0(%x: tensor<2xf32>):
      %0 = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "func.return"(%0) : (tensor<2xf32>) -> ()
    }) : () -> ()
  }) {mhlo.num_partitions = 2 : i32} : () -> ())";
  const auto generic = take(read_stablehlo(kGeneric, "generic.mlir"));
  std::string difference;
  if (!same_module(*pretty, *generic, &difference)) FAIL_CHECK(difference);
  CHECK(generic->name() == "two");
  CHECK(generic->num_partitions == 2);
  CHECK(generic->aliases.size() == 1);
  CHECK(generic->result_names == pretty->result_names);

  std::string wrong(kGeneric);
  wrong.replace(wrong.find("function_type = (tensor<2xf32>)"), 31, "function_type = (tensor<3xf32>)");
  const auto refused = read_stablehlo(wrong, "wrong.mlir");
  REQUIRE(!refused.is_ok());
  CHECK(refused.status().diagnostic().to_string().find(
            "2:5: argument 0 is a f32[2], the function type has") != std::string::npos);
}

TEST_CASE("containers around a module are unwrapped by content", "[hlo][proto]") {
  wire::HloModuleProto module;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(kProto, &module));
  wire::HloProto proto;
  *proto.mutable_hlo_module() = module;
  wire::HloSnapshot snapshot;
  *snapshot.mutable_hlo() = proto;
  CHECK(read_hlo_proto(proto.SerializeAsString(), "proto").is_ok());
  CHECK(read_hlo_proto(snapshot.SerializeAsString(), "snapshot").is_ok());
}

TEST_CASE("a proto in text form is the module of the binary one, enums by name or number", "[hlo][proto]") {
  const auto binary = take(read_hlo_proto(proto_bytes(kProto), "tiny"));
  std::string named(kProto);
  for (size_t at; (at = named.find("element_type: 11")) != std::string::npos;)
    named.replace(at, 16, "element_type: F32");
  const std::string snapshot = "# proto-message: xla.HloSnapshot\nhlo { hlo_module {" + named + "} }";
  std::string difference;
  for (const std::string& text : {std::string(kProto), named, snapshot}) {
    REQUIRE(is_proto_text(text));
    const auto read = take(read_hlo_proto_text(text, "tiny.txt"));
    if (!same_module(*binary, *read, &difference)) FAIL_CHECK(difference);
  }
  const auto extended = take(read_hlo_proto_text(named + "profile_info { speedup: 2 }", "tiny.txt"));
  CHECK(same_module(*binary, *extended, nullptr));

  const auto problem = [](const std::string& text) {
    const auto read = read_hlo_proto_text(text, "bad.txt");
    return read.is_ok() ? std::string() : read.status().diagnostic().to_string();
  };
  CHECK(problem("name: \"m\"\ncomputations { id: x }").find("2:20: ") != std::string::npos);
  CHECK(problem("computations { instructions { shape { element_type: F33 } } }").find("1:57: ") !=
        std::string::npos);
  std::string deep = "hlo { hlo_module { computations { program_shape { result {";
  for (int i = 0; i < 100000; ++i) deep += "tuple_shapes {";
  CHECK(!problem(deep).empty());
  for (const std::string text : {"HloModule m", "%add (x: f32[]) -> f32[] {", "name (x: f32[])",
                                 "module @m {", "#loc = loc(unknown)", "name = f32[] constant(1)", ""})
    CHECK(!is_proto_text(text));
}

TEST_CASE("operations of other dialects are named, whatever their syntax", "[hlo][mlir]") {
  const auto problem = [](const std::string& body) {
    const auto read = read_stablehlo("module {\n" + body + "\n}", "m.mlir");
    return read.is_ok() ? std::string() : read.status().diagnostic().to_string();
  };
  CHECK(problem("func.func @main() { %0 = arith.constant dense<1> : tensor<i32> }")
            .find("'arith.constant': at 2:") != std::string::npos);
  CHECK(problem("ml_program.global private @g : tensor<i32>").find("'ml_program.global'") !=
        std::string::npos);
  CHECK(problem("module @inner {}").find("a module inside a module") != std::string::npos);
  CHECK(problem("func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense_resource<__elided__> : "
                "tensor<i32>\n"
                "return %0 : tensor<i32> }")
            .find("left out of the file") != std::string::npos);
}

TEST_CASE("MLIR bytecode is refused as such", "[hlo][read]") {
  const std::string bare = std::string("ML\xEFR\x0D", 5) + "MLIR20\0rest",
                    inside = std::string("\x08\0\0\0\x14", 5) + bare;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("forms_test.{}", ::getpid())).string();
  for (const std::string& bytes : {bare, inside}) {
    REQUIRE(write_file(path, bytes).is_ok());
    const auto read = read_module(path);
    REQUIRE(!read.is_ok());
    CHECK(read.status().diagnostic().to_string().find("MLIR bytecode") != std::string::npos);
  }
  std::filesystem::remove(path);
}

TEST_CASE("what a loop captures becomes loop state, constants are repeated inside", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<4xf32>, %step: tensor<4xf32>) -> tensor<4xf32> {
      %c = stablehlo.constant dense<7> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
        cond { %p = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %p : tensor<i1> }
        do { %n = stablehlo.add %i, %one : tensor<i32>
             %w = stablehlo.add %v, %step : tensor<4xf32>
             stablehlo.return %n, %w : tensor<i32>, tensor<4xf32> }
      return %r#1 : tensor<4xf32>
    })",
                                          "loop.mlir"));
  REQUIRE(verify(*module).is_ok());
  const Instruction* loop = module->entry()->root()->operand(0);
  REQUIRE(loop->is(Opcode::While));
  CHECK(to_string(loop->shape) == "(s32[], f32[4], f32[4])");
  const Instruction* limit = loop->while_condition()->root()->operand(1);
  CHECK(limit->is(Opcode::Constant));
  CHECK(limit->literal.as_int64(0) == 7);
  CHECK(loop->while_condition()->root()->compare_type == CompareType::Default);
}

TEST_CASE("a combination of types that is no algorithm of HLO is kept as it stands", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = tf32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    })",
                                          "dot.mlir"));
  REQUIRE(verify(*module).is_ok());
  const Attributes& attrs = module->entry()->root()->attrs();
  CHECK(attrs.algorithm.empty());
  REQUIRE(attrs.frontend_attributes.size() == 1);
  CHECK(attrs.frontend_attributes[0].first == "mhlo.dot_algorithm");
  CHECK_THAT(attrs.frontend_attributes[0].second, Catch::Contains("accumulation_type = tf32"));
}

TEST_CASE("a module's name is one that HLO text can hold", "[hlo][text]") {
  const auto module =
      take(read_stablehlo("module @\"a b,{\\C3\\A9\" { func.func @main(%x: tensor<f32>) -> tensor<f32> { "
                          "return %x : tensor<f32> } }",
                          "named.mlir"));
  CHECK(module->name() == "a_b____");
  const auto back = take(read_hlo_text(print_hlo(*module), "named.hlo"));
  CHECK(back->name() == module->name());
}

TEST_CASE("an empty list of precisions is the default", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%a: tensor<3xf32>) -> tensor<f32> {
      %0 = stablehlo.dot %a, %a, precision = [] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
      return %0 : tensor<f32>
    })",
                                          "dot.mlir"));
  CHECK(module->entry()->root()->attrs().precision.empty());
}

TEST_CASE("branches get what they capture as operands", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %r = "stablehlo.if"(%p) ({
        %a = stablehlo.negate %x : tensor<4xf32>
        stablehlo.return %a : tensor<4xf32>
      }, {
        stablehlo.return %x : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })",
                                          "if.mlir"));
  REQUIRE(verify(*module).is_ok());
  const Instruction* branch = module->entry()->root();
  REQUIRE(branch->is(Opcode::Conditional));
  CHECK(branch->num_operands() == 3);
  CHECK(branch->called[0]->root()->is(Opcode::Negate));
  CHECK(branch->called[1]->root()->is(Opcode::Parameter));
}

TEST_CASE("size-1 dimensions are reshaped away and unsorted ones transposed before a broadcast",
          "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<1x3x2xf32>) -> tensor<2x5x3xf32> {
      %r = stablehlo.broadcast_in_dim %x, dims = [1, 2, 0] : (tensor<1x3x2xf32>) -> tensor<2x5x3xf32>
      return %r : tensor<2x5x3xf32>
    })",
                                          "broadcast.mlir"));
  REQUIRE(verify(*module).is_ok());
  const Instruction* broadcast = module->entry()->root();
  CHECK(broadcast->dimensions == std::vector<int64_t>{0, 2});
  REQUIRE(broadcast->operand(0)->is(Opcode::Transpose));
  CHECK(to_string(broadcast->operand_shape(0)) == "f32[2,3]");
  CHECK(broadcast->operand(0)->operand(0)->is(Opcode::Reshape));
}

TEST_CASE("an alias to the only result of a function is an alias to the whole output", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {
      %0 = stablehlo.negate %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                                          "alias.mlir"));
  REQUIRE(module->aliases.size() == 1);
  CHECK(module->aliases[0].output_index.empty());
}

TEST_CASE("checks are kept as custom-calls with their numbers", "[hlo][mlir]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main() {
      %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      check.expect_almost_eq_const %x, dense<[1.0, 2.5]> : tensor<2xf32>, tolerance = 0.75
      check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
      return
    })",
                                          "check.mlir"));
  std::vector<const Instruction*> checks;
  for (const auto& inst : module->entry()->instructions()) {
    if (inst->is(Opcode::CustomCall)) checks.push_back(inst.get());
  }
  REQUIRE(checks.size() == 2);
  CHECK(checks[0]->attrs().custom_call_target == "check.expect_almost_eq_const");
  CHECK(checks[0]->attrs().find("tolerance") == "0.75");
  CHECK(checks[0]->operand(1)->literal.as_double(1) == 2.5);
  CHECK(checks[1]->attrs().find("max_ulp_difference") == "3");
  CHECK(checks[1]->has_side_effect());
}

TEST_CASE("a CHLO op without an HLO opcode travels as a custom-call and comes back", "[hlo]") {
  const auto module = take(read_stablehlo(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
      return %r : tensor<4xf32>
    })",
                                          "erfc.mlir"));
  CHECK(print_hlo(*module->entry()->root(), {-1, false, false}) ==
        "%erfc.1 = f32[4] custom-call(%x), custom_call_target=\"chlo.erfc\"");
  const auto again = take(read_hlo_proto(write_hlo_proto(*module).value(), "erfc"));
  CHECK(again->entry()->root()->is(Opcode::Erfc));
}

}  // namespace

TEST_CASE("long strings of a text are read whole, with escapes and ends anywhere", "[hlo][read]") {
  for (const size_t length : {4094, 4095, 4096, 4097, 8191, 9000}) {
    const std::string name = std::string(length, 'n') + "\\22" + std::string(length, 'm');
    const std::string text =
        "module @\"" + name +
        "\" { func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> } }";
    const auto module = take(read_stablehlo(text, "long.mlir"));
    CHECK(module->name().size() == 2 * length + 1);
  }
  const std::string open = "module @\"" + std::string(5000, 'n') + "\n\" {}";
  CHECK_FALSE(read_stablehlo(open, "open.mlir").is_ok());
  const std::string digits(2 * 600, 'f');
  for (const size_t bad : {0, 1, 255, 512, 513, 1199}) {
    std::string blob = digits;
    blob[bad] = 'g';
    const std::string text = "func.func @main() -> tensor<600xui8> { %0 = stablehlo.constant dense<\"0x" +
                             blob + "\"> : tensor<600xui8> return %0 : tensor<600xui8> }";
    const auto read = read_stablehlo(text, "blob.mlir");
    REQUIRE_FALSE(read.is_ok());
    CHECK(read.status().diagnostic().to_string().find("not a hex digit") != std::string::npos);
  }
}

TEST_CASE("a split file gives the pieces that hold more than comments, lines kept", "[hlo][read]") {
  const std::vector<std::string> pieces =
      split_mlir("// RUN\n\n// -----\n\nmodule @a {}\n// -----\n// nothing\n// -----\nmodule @b {}\n");
  REQUIRE(pieces.size() == 2);
  CHECK(std::count(pieces[1].begin(), pieces[1].end(), '\n') == 9);
  CHECK(pieces[1].find("module @b") != std::string::npos);
  CHECK(split_mlir("// alone\n").size() == 1);
}

}  // namespace ncc::hlo
