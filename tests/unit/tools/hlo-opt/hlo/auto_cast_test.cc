#include "tools/hlo-opt/hlo/passes/auto_cast.h"

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

/// The module after auto-cast; the pass may change results, so no execution check.
std::unique_ptr<hlo::Module> cast(const std::string& mode, const std::string& lines) {
  std::unique_ptr<hlo::Module> module = parse(
      "HloModule m\nadd { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] add(p, q) }\n"
      "ENTRY main {\na = f32[4,4] parameter(0)\nb = f32[4,4] parameter(1)\n" +
      lines + "\n}");
  RunOptions options;
  REQUIRE(allow_fp32_cast(*module, mode).is_ok());
  options.passes = {find_pass("auto-cast")};
  const Status status = run_passes(*module, options);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  return module;
}

const std::string kDot = "ROOT r = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";

TEST_CASE("products read narrowed operands and keep their f32 result", "[hlo-passes]") {
  for (const auto& [mode, type] :
       {std::pair{"matmult", Dtype::BF16}, std::pair{"matmult-fp16", Dtype::F16},
        std::pair{"matmult-fp8e4", Dtype::F8E4M3}, std::pair{"all", Dtype::BF16}}) {
    const auto module = cast(mode, kDot);
    CHECK(root(*module).is(Opcode::Dot));
    CHECK(root(*module).shape.dtype == Dtype::F32);
    CHECK(root(*module).operand_shape(0).dtype == type);
    CHECK(root(*module).operand_shape(1).dtype == type);
  }
}

TEST_CASE("an operand of both sides is narrowed once", "[hlo-passes]") {
  const auto module =
      cast("matmult", "ROOT r = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  CHECK(count(*module, Opcode::Convert) == 1);
}

TEST_CASE("f32r is said as the precision that it has", "[hlo-passes]") {
  const auto module = cast("all-fp32r", kDot);
  CHECK(root(*module).operand_shape(0).dtype == Dtype::F32);
  CHECK(root(*module).operand(0)->is(Opcode::ReducePrecision));
  CHECK(root(*module).operand(0)->attrs().mantissa_bits == 11);
  CHECK(root(*module).operand(0)->attrs().exponent_bits == 8);
}

TEST_CASE("arithmetic is narrowed by scope all alone", "[hlo-passes]") {
  const std::string lines = "s = f32[4,4] add(a, b)\nROOT r = f32[4,4] exponential(s)";
  CHECK(count(*cast("matmult", lines), Opcode::Convert) == 0);
  CHECK(count(*cast("none", lines), Opcode::Convert) == 0);
  const auto module = cast("all", lines);
  // Between the two ops the value stays narrow.
  CHECK(root(*module).is(Opcode::Convert));
  CHECK(root(*module).operand(0)->is(Opcode::Exp));
  CHECK(root(*module).operand(0)->operand(0)->is(Opcode::Add));
  CHECK(count(*module, Opcode::Convert) == 3);
}

TEST_CASE("narrow values move as they are, and constants are narrowed at compile time", "[hlo-passes]") {
  const auto module = cast("all",
                           "s = f32[4,4] add(a, b)\nt = f32[4,4] transpose(s), dimensions={1,0}\n"
                           "c = f32[] constant(0.1)\nw = f32[4,4] broadcast(c), dimensions={}\n"
                           "ROOT r = f32[4,4] multiply(t, w)");
  CHECK(count(*module, Opcode::Convert) == 3);
  const hlo::Instruction& product = *root(*module).operand(0);
  CHECK(product.operand(0)->is(Opcode::Transpose));
  CHECK(product.operand_shape(0).dtype == Dtype::BF16);
  REQUIRE(product.operand(1)->is(Opcode::Broadcast));
  REQUIRE(product.operand(1)->operand(0)->is(Opcode::Constant));
  CHECK(product.operand(1)->operand(0)->literal.as_double(0) == 0.10009765625);
}

TEST_CASE("what must stay in f32 stays", "[hlo-passes]") {
  const auto stays = [](const std::string& mode, const std::string& lines) {
    const auto module = cast(mode, lines);
    return count(*module, Opcode::Convert) + count(*module, Opcode::ReducePrecision) == 0;
  };
  CHECK(stays("matmult", kDot + ", frontend_attributes={auto_cast=\"none\"}"));
  CHECK(stays("matmult-fp32r", kDot + ", algorithm=dot_f32_f32_f32"));
  CHECK(stays("all", "z = f32[] constant(0)\nROOT r = f32[4] reduce(a, z), dimensions={1}, to_apply=add"));
  CHECK(stays("all", "ROOT r = pred[4,4] compare(a, b), direction=LT"));
  CHECK(stays("all", "i = s32[4,4] iota(), iota_dimension=0\nROOT r = s32[4,4] add(i, i)"));
  CHECK(stays("all", "ROOT r = f32[4,4] transpose(a), dimensions={1,0}"));
}

TEST_CASE("loops and branches are cast, bodies of reductions are not", "[hlo-passes]") {
  auto module = parse(
      "HloModule m\nbody { s = (s32[], f32[2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "v = f32[2] get-tuple-element(s), index=1\none = s32[] constant(1)\nj = s32[] add(i, one)\n"
      "w = f32[2] multiply(v, v)\nROOT t = (s32[], f32[2]) tuple(j, w) }\n"
      "cond { s = (s32[], f32[2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "n = s32[] constant(3)\nROOT c = pred[] compare(i, n), direction=LT }\n"
      "ENTRY main { z = s32[] constant(0)\nx = f32[2] parameter(0)\nt = (s32[], f32[2]) tuple(z, x)\n"
      "ROOT w = (s32[], f32[2]) while(t), condition=cond, body=body }");
  RunOptions options;
  REQUIRE(allow_fp32_cast(*module, "all").is_ok());
  options.passes = {find_pass("auto-cast")};
  REQUIRE(run_passes(*module, options).is_ok());
  CHECK(count(*module, Opcode::Convert) == 2);
}

TEST_CASE("the result is within the type's error of the f32 one", "[hlo-passes]") {
  const std::string lines =
      "s = f32[4,4] multiply(a, b)\nt = f32[4,4] tanh(s)\n"
      "ROOT r = f32[4,4] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const auto exact = cast("none", lines);
  hlo::Literal a = hlo::Literal::zeros(hlo::Shape::array(Dtype::F32, {4, 4})), b = a;
  a = hlo::Literal::zeros(a.shape());
  b = hlo::Literal::zeros(a.shape());
  for (size_t i = 0; i < 16; ++i) {
    reinterpret_cast<float*>(a.mutable_data())[i] = 0.3f + 0.07f * static_cast<float>(i);
    reinterpret_cast<float*>(b.mutable_data())[i] = 1.1f - 0.05f * static_cast<float>(i);
  }
  const auto run = [&](const hlo::Module& module) {
    Result<hlo::Literal> result = hlo::interpret(*module.entry(), {a, b});
    REQUIRE(result.is_ok());
    return result.take();
  };
  const hlo::Literal wanted = run(*exact);
  // Relative to sums of four terms below 1: a few half units in the last place of each type.
  for (const auto& [mode, error] :
       {std::pair{"matmult-bf16", 0.02}, std::pair{"matmult-fp16", 0.002}, std::pair{"matmult-fp32r", 0.002},
        std::pair{"matmult-fp8e4", 0.25}, std::pair{"all-bf16", 0.06}, std::pair{"all-fp16", 0.006}}) {
    const hlo::Literal got = run(*cast(mode, lines));
    bool differs = false;
    for (int64_t i = 0; i < 16; ++i) {
      INFO(mode << " element " << i);
      CHECK(got.as_double(i) == Approx(wanted.as_double(i)).margin(error));
      differs |= got.as_double(i) != wanted.as_double(i);
    }
    CHECK(differs);
  }
}

TEST_CASE("an unknown mode is refused with the closest one", "[hlo-passes]") {
  hlo::Module module("m");
  const Status status = allow_fp32_cast(module, "matmul");
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().cause.find("'matmult'") != std::string::npos);
}

}  // namespace
}  // namespace ncc::hlo_passes
