#include "tools/hlo-check/stablehlo_case.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"

using namespace ncc;
using namespace ncc::check;

namespace {

Program program_of(const std::string& text) {
  auto module = hlo::read_stablehlo(text, "test.mlir");
  if (!module.is_ok()) FAIL(module.status().diagnostic().to_string());
  auto program = parameterise(*module.value());
  if (!program.is_ok()) FAIL(program.status().diagnostic().to_string());
  REQUIRE(program.value().has_value());
  return std::move(*program.value());
}

int64_t count(const hlo::Module& module, hlo::Opcode opcode) {
  int64_t n = 0;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions()) n += inst->is(opcode);
  return n;
}

constexpr const char* kSuiteForm = R"(module @jit_main {
  func.func public @main() -> tensor<2xf32> {
    %0:2 = call @inputs() : () -> (tensor<2xf32>, tensor<2xf32>)
    %1 = call @expected() : () -> tensor<2xf32>
    %2 = stablehlo.add %0#0, %0#1 : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return %2 : tensor<2xf32>
  }
  func.func private @inputs() -> (tensor<2xf32>, tensor<2xf32>) {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    return %a, %b : tensor<2xf32>, tensor<2xf32>
  }
  func.func private @expected() -> tensor<2xf32> {
    %a = stablehlo.constant dense<[4.0, 6.0]> : tensor<2xf32>
    return %a : tensor<2xf32>
  }
})";

}  // namespace

TEST_CASE("values of @inputs become parameters, values of @expected stay on the host", "[hlo-check]") {
  const Program program = program_of(kSuiteForm);
  CHECK(program.inputs.size() == 2);
  CHECK(program.module->entry()->parameters().size() == 2);
  CHECK(count(*program.module, hlo::Opcode::Constant) == 0);
  CHECK(count(*program.module, hlo::Opcode::CustomCall) == 0);
  CHECK(count(*program.module, hlo::Opcode::Call) == 0);
  REQUIRE(program.checks.size() == 1);
  CHECK(program.checks[0].expected.at<float>(1) == 6);
  CHECK(program.checks[0].rule.kind == Rule::Kind::Ulp);
  CHECK(program.checks[0].rule.max_ulp == 3);

  const auto result = hlo::interpret(*program.module, program.inputs);
  REQUIRE(result.is_ok());
  CHECK(result.value().elements()[0].at<float>(0) == 4);
}

TEST_CASE("without @inputs the constants that ops read become parameters", "[hlo-check]") {
  const Program program = program_of(R"(func.func @add_op() {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %2 = stablehlo.add %0, %1 : tensor<2xi32>
    check.expect_eq_const %2, dense<[4, 6]> : tensor<2xi32>
    func.return
  })");
  CHECK(program.inputs.size() == 2);
  CHECK(count(*program.module, hlo::Opcode::Constant) == 0);
  REQUIRE(program.checks.size() == 1);
  CHECK(program.checks[0].rule.kind == Rule::Kind::Exact);
  CHECK(program.checks[0].expected.at<int32_t>(0) == 4);
}

TEST_CASE("check.eq takes the expected value on either side", "[hlo-check]") {
  const Program program = program_of(R"(func.func @main() -> tensor<2xf32> {
    %e = stablehlo.constant dense<[-1.0, 2.0]> : tensor<2xf32>
    %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
    %y = stablehlo.negate %x : tensor<2xf32>
    %p = stablehlo.custom_call @check.eq(%e, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
    return %y : tensor<2xf32>
  })");
  CHECK(program.inputs.size() == 1);
  REQUIRE(program.checks.size() == 1);
  CHECK(program.checks[0].expected.at<float>(0) == -1);
  CHECK(program.checks[0].rule.kind == Rule::Kind::Absolute);
}

TEST_CASE("a module without a check is no program", "[hlo-check]") {
  auto module = hlo::read_stablehlo("func.func @main() { func.return }", "test.mlir");
  REQUIRE(module.is_ok());
  const auto program = parameterise(*module.value());
  REQUIRE(program.is_ok());
  CHECK_FALSE(program.value().has_value());
}
