#include <cmath>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

std::unique_ptr<hlo::Module> upcast(const std::string& text) {
  std::unique_ptr<hlo::Module> module = parse(text);
  RunOptions options;
  options.passes = {find_pass("upcast-all-to-fp32")};
  const Status status = run_passes(*module, options);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  return module;
}

/// Values of a type that anything but conversions makes or reads.
int64_t uses_of(const hlo::Module& module, Dtype dtype) {
  int64_t number = 0;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions())
      number += inst->shape.is_array() && inst->shape.dtype == dtype && !inst->is(Opcode::Convert) &&
                !inst->is(Opcode::Parameter);
  return number;
}

TEST_CASE("what is narrow inside becomes f32, parameters and results keep their types", "[hlo-passes]") {
  for (const auto& [name, dtype] : {std::pair{"bf16", Dtype::BF16}, std::pair{"f16", Dtype::F16},
                                    std::pair{"f64", Dtype::F64}, std::pair{"f8e5m2", Dtype::F8E5M2}}) {
    const std::string t = name;
    const auto module =
        upcast("HloModule m\nadd { p = " + t + "[] parameter(0)\nq = " + t +
               "[] parameter(1)\nROOT s = " + t + "[] add(p, q) }\nENTRY main { a = " + t +
               "[4,4] parameter(0)\nc = " + t + "[] constant(0)\nd = " + t +
               "[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\nROOT r = " + t +
               "[4] reduce(d, c), dimensions={1}, to_apply=add }");
    INFO(t);
    CHECK(module->entry()->parameters()[0]->shape.dtype == dtype);
    CHECK(root(*module).is(Opcode::Convert));
    CHECK(root(*module).shape.dtype == dtype);
    CHECK(root(*module).operand(0)->is(Opcode::Reduce));
    CHECK(root(*module).operand(0)->shape.dtype == Dtype::F32);
    CHECK(uses_of(*module, dtype) == 0);
    CHECK(count(*module, Opcode::Convert) == 2);
  }
}

TEST_CASE("a module in f32 stays as it is", "[hlo-passes]") {
  after("upcast-all-to-fp32",
        "HloModule m\nENTRY main { a = f32[4] parameter(0)\nROOT r = f32[4] add(a, a) }");
  const auto module = upcast("HloModule m\nENTRY main { a = s8[4] parameter(0)\nROOT r = s8[4] add(a, a) }");
  CHECK(count(*module, Opcode::Convert) == 0);
}

TEST_CASE("tuples are converted element by element", "[hlo-passes]") {
  const auto module = upcast(
      "HloModule m\nENTRY main { p = (bf16[4], s32[]) parameter(0)\nx = bf16[4] get-tuple-element(p), "
      "index=0\n"
      "i = s32[] get-tuple-element(p), index=1\ny = bf16[4] multiply(x, x)\n"
      "x32 = f32[4] convert(x)\nin = (bf16[4], f32[4]) tuple(y, x32)\n"
      "ROOT r = ((bf16[4], f32[4]), s32[]) tuple(in, i) }");
  CHECK(to_string(root(*module).shape) == "((bf16[4], f32[4]), s32[])");
  CHECK(uses_of(*module, Dtype::BF16) == 1);  // the element of the parameter
}

TEST_CASE("explicit roundings inside go, and reduce-precision stays", "[hlo-passes]") {
  const auto module = upcast(
      "HloModule m\nENTRY main { a = f32[4] parameter(0)\nb = bf16[4] convert(a)\nc = f32[4] convert(b)\n"
      "d = f32[4] reduce-precision(c), exponent_bits=8, mantissa_bits=7\nROOT r = f32[4] add(c, d) }");
  CHECK(count(*module, Opcode::Convert) == 0);
  CHECK(count(*module, Opcode::ReducePrecision) == 1);
}

TEST_CASE("ops with types of their own keep them", "[hlo-passes]") {
  const auto module = upcast(
      "HloModule m\nENTRY main { a = bf16[4] parameter(0)\nb = bf16[4] add(a, a)\n"
      "bits = u16[4] bitcast-convert(b)\nc = bf16[4] custom-call(b), custom_call_target=\"f\"\n"
      "d = bf16[4] multiply(c, b)\nROOT r = (u16[4], bf16[4]) tuple(bits, d) }");
  for (const auto& inst : module->entry()->instructions()) {
    if (inst->is(Opcode::BitcastConvert)) CHECK(inst->operand_shape(0).dtype == Dtype::BF16);
    if (inst->is(Opcode::CustomCall)) {
      CHECK(inst->operand_shape(0).dtype == Dtype::BF16);
      CHECK(inst->shape.dtype == Dtype::BF16);
    }
    if (inst->is(Opcode::Multiply)) CHECK(inst->shape.dtype == Dtype::F32);
  }
}

TEST_CASE("loops carry f32, and a dot forgets its algorithm", "[hlo-passes]") {
  const auto module = upcast(
      "HloModule m\nbody { s = (s32[], bf16[2,2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "v = bf16[2,2] get-tuple-element(s), index=1\none = s32[] constant(1)\nj = s32[] add(i, one)\n"
      "w = bf16[2,2] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "algorithm=dot_bf16_bf16_f32\n"
      "ROOT t = (s32[], bf16[2,2]) tuple(j, w) }\n"
      "cond { s = (s32[], bf16[2,2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "n = s32[] constant(3)\nROOT c = pred[] compare(i, n), direction=LT }\n"
      "ENTRY main { z = s32[] constant(0)\nx = bf16[2,2] parameter(0)\nt = (s32[], bf16[2,2]) tuple(z, x)\n"
      "u = (s32[], bf16[2,2]) while(t), condition=cond, body=body\n"
      "ROOT r = bf16[2,2] get-tuple-element(u), index=1 }");
  for (const auto& computation : module->computations())
    for (const auto& inst : computation->instructions())
      if (inst->is(Opcode::Dot)) CHECK(inst->attrs().algorithm.empty());
  CHECK(uses_of(*module, Dtype::BF16) == 0);
  CHECK(count(*module, Opcode::Convert) == 2);
}

TEST_CASE("small steps are not lost in f32", "[hlo-passes]") {
  std::string text = "HloModule m\nENTRY main { a = bf16[] parameter(0)\ns0 = bf16[] constant(1)\n";
  for (int i = 0; i < 16; ++i) text += fmt::format("s{} = bf16[] add(s{}, a)\n", i + 1, i);
  text += "ROOT r = bf16[] convert(s16) }";
  const std::vector<hlo::Literal> args = {hlo::Literal::scalar(Dtype::BF16, 1.0 / 512)};
  CHECK(hlo::interpret(*parse(text)->entry(), args)->as_double(0) == 1);
  CHECK(hlo::interpret(*upcast(text)->entry(), args)->as_double(0) == 1 + 16.0 / 512);
}

TEST_CASE("constants beyond f32 are what conversion makes of them", "[hlo-passes]") {
  const auto module = upcast(
      "HloModule m\nENTRY main { a = f64[2] parameter(0)\nc = f64[2] constant({1e300, 0.1})\n"
      "ROOT r = f64[2] add(a, c) }");
  const hlo::Instruction& sum = *root(*module).operand(0);
  REQUIRE(sum.operand(1)->is(Opcode::Constant));
  CHECK(std::isinf(sum.operand(1)->literal.as_double(0)));
  CHECK(sum.operand(1)->literal.as_double(1) == static_cast<double>(0.1f));
}

}  // namespace
}  // namespace ncc::hlo_passes
