#include <cmath>
#include <limits>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"
#include "tools/hlo-opt/hlo/float_facts.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = std::numeric_limits<float>::max();

std::unique_ptr<hlo::Module> saturated(const std::string& text) {
  std::unique_ptr<hlo::Module> module = parse(text);
  RunOptions options;
  options.passes = {find_pass("saturate-infinity")};
  const Status status = run_passes(*module, options);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  return module;
}

const std::string kHead =
    "HloModule m\nadd { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] add(p, q) }\n"
    "mul { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] multiply(p, q) }\n"
    "max { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] maximum(p, q) }\n"
    "ENTRY main {\na = f32[4] parameter(0)\nb = f32[4] parameter(1)\ni = s32[4] parameter(2)\n"
    "z = f32[] constant(0)\none = f32[] constant(1)\n";

int64_t clamps(const std::string& lines) { return count(*saturated(kHead + lines + "\n}"), Opcode::Clamp); }

TEST_CASE("operands are clamped where an infinity can become NaN", "[hlo-passes]") {
  CHECK(clamps("ROOT r = f32[4] add(a, b)") == 2);
  CHECK(clamps("ROOT r = f32[4] subtract(a, b)") == 2);
  CHECK(clamps("ROOT r = f32[4] subtract(a, a)") == 1);
  CHECK(clamps("ROOT r = f32[4] multiply(a, b)") == 2);
  CHECK(clamps("ROOT r = f32[4] divide(a, b)") == 2);
  CHECK(clamps("ROOT r = f32[4] remainder(a, b)") == 1);
  CHECK(clamps("ROOT r = f32[4] sine(a)") == 1);
  CHECK(clamps("ROOT r = f32[4] cosine(a)") == 1);
  CHECK(clamps("ROOT r = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}") == 2);
  CHECK(clamps("ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add") == 1);
  CHECK(clamps("ROOT r = f32[] reduce(a, one), dimensions={0}, to_apply=mul") == 1);
}

TEST_CASE("operands stay where no infinity can become NaN", "[hlo-passes]") {
  CHECK(clamps("ROOT r = f32[4] add(a, a)") == 0);
  CHECK(clamps("ROOT r = f32[4] multiply(a, a)") == 0);
  CHECK(clamps("ROOT r = f32[4] maximum(a, b)") == 0);
  CHECK(clamps("ROOT r = f32[4] exponential(a)") == 0);
  CHECK(clamps("ROOT r = f32[4] power(a, b)") == 0);
  CHECK(clamps("ROOT r = s32[4] add(i, i)") == 0);
  CHECK(clamps("ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=max") == 0);
  // One infinite operand alone, or infinities of one sign.
  CHECK(clamps("k = f32[4] broadcast(one), dimensions={}\nROOT r = f32[4] add(a, k)") == 0);
  CHECK(clamps("k = f32[4] broadcast(one), dimensions={}\nROOT r = f32[4] multiply(a, k)") == 0);
  CHECK(clamps("k = f32[4] broadcast(one), dimensions={}\nROOT r = f32[4] divide(a, k)") == 0);
  CHECK(clamps("e = f32[4] exponential(a)\nROOT r = f32[] reduce(e, z), dimensions={0}, to_apply=add") == 0);
  CHECK(clamps("t = f32[4] tanh(a)\nu = f32[4] logistic(b)\nROOT r = f32[4] subtract(t, u)") == 0);
  CHECK(clamps("t = f32[4] convert(i)\nROOT r = f32[4] subtract(t, t)") == 0);
}

TEST_CASE("a value is clamped once, and before it is repeated", "[hlo-passes]") {
  CHECK(clamps("s = f32[4] subtract(a, b)\nt = f32[4] add(a, b)\nROOT r = (f32[4], f32[4]) tuple(s, t)") ==
        2);
  const auto module = saturated(
      "HloModule m\nENTRY main { a = f32[4,8] parameter(0)\nb = f32[4] parameter(1)\n"
      "w = f32[4,8] broadcast(b), dimensions={0}\nROOT r = f32[4,8] add(a, w) }");
  REQUIRE(root(*module).operand(1)->is(Opcode::Broadcast));
  CHECK(root(*module).operand(1)->operand(0)->is(Opcode::Clamp));
}

TEST_CASE("clamped values are not clamped again", "[hlo-passes]") {
  const auto once = saturated(kHead + "ROOT r = f32[4] subtract(a, b)\n}");
  RunOptions options;
  options.passes = {find_pass("saturate-infinity")};
  REQUIRE(run_passes(*once, options).is_ok());
  CHECK(count(*once, Opcode::Clamp) == 2);
}

TEST_CASE("types without infinities are left alone", "[hlo-passes]") {
  const auto module = saturated(
      "HloModule m\nENTRY main { a = f8e4m3fn[4] parameter(0)\nb = f8e4m3fn[4] parameter(1)\n"
      "ROOT r = f8e4m3fn[4] subtract(a, b) }");
  CHECK(count(*module, Opcode::Clamp) == 0);
}

hlo::Literal f32(const std::vector<float>& values, std::vector<int64_t> dims) {
  hlo::Literal literal = hlo::Literal::zeros(hlo::Shape::array(Dtype::F32, std::move(dims)));
  std::memcpy(literal.mutable_data(), values.data(), values.size() * sizeof(float));
  return literal;
}

std::vector<float> values(const hlo::Module& module, const std::vector<hlo::Literal>& args) {
  const Result<hlo::Literal> result = hlo::interpret(*module.entry(), args);
  REQUIRE(result.is_ok());
  std::vector<float> list;
  for (int64_t i = 0; i < result->num_elements(); ++i)
    list.push_back(static_cast<float>(result->as_double(i)));
  return list;
}

TEST_CASE("infinities become finite, finite values and NaN stay", "[hlo-passes]") {
  const std::string text =
      "HloModule m\nENTRY main { a = f32[6] parameter(0)\nb = f32[6] parameter(1)\n"
      "ROOT r = f32[6] subtract(a, b) }";
  const auto a = f32({kInf, -kInf, kInf, 1.5f, NAN, kMax}, {6});
  const auto b = f32({kInf, -kInf, -1.0f, 0.25f, 1.0f, kMax}, {6});
  const std::vector<float> plain = values(*parse(text), {a, b});
  CHECK(std::isnan(plain[0]));
  CHECK(std::isnan(plain[1]));
  const std::vector<float> now = values(*saturated(text), {a, b});
  CHECK(now[0] == 0);
  CHECK(now[1] == 0);
  CHECK(now[2] == kMax);
  CHECK(now[3] == 1.25f);
  CHECK(std::isnan(now[4]));
  CHECK(now[5] == 0);
}

TEST_CASE("a softmax of a fully masked row is uniform instead of NaN", "[hlo-passes]") {
  const std::string text =
      "HloModule m\nadd { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] add(p, q) }\n"
      "max { p = f32[] parameter(0)\nq = f32[] parameter(1)\nROOT s = f32[] maximum(p, q) }\n"
      "ENTRY main { x = f32[2,4] parameter(0)\nlow = f32[] constant(-inf)\nz = f32[] constant(0)\n"
      "m = f32[2] reduce(x, low), dimensions={1}, to_apply=max\nw = f32[2,4] broadcast(m), dimensions={0}\n"
      "d = f32[2,4] subtract(x, w)\ne = f32[2,4] exponential(d)\n"
      "t = f32[2] reduce(e, z), dimensions={1}, to_apply=add\nu = f32[2,4] broadcast(t), dimensions={0}\n"
      "ROOT r = f32[2,4] divide(e, u) }";
  const auto x = f32({-kInf, -kInf, -kInf, -kInf, 0.5f, -kInf, 0.5f, -kInf}, {2, 4});
  CHECK(std::isnan(values(*parse(text), {x})[0]));
  CHECK(values(*saturated(text), {x}) ==
        std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f, 0.5f, 0.0f, 0.5f, 0.0f});
}

TEST_CASE("loops and branches are saturated too", "[hlo-passes]") {
  const auto module = saturated(
      "HloModule m\nbody { s = (s32[], f32[2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "v = f32[2] get-tuple-element(s), index=1\none = s32[] constant(1)\nj = s32[] add(i, one)\n"
      "w = f32[2] subtract(v, v)\nROOT t = (s32[], f32[2]) tuple(j, w) }\n"
      "cond { s = (s32[], f32[2]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
      "n = s32[] constant(3)\nROOT c = pred[] compare(i, n), direction=LT }\n"
      "ENTRY main { z = s32[] constant(0)\nx = f32[2] parameter(0)\nt = (s32[], f32[2]) tuple(z, x)\n"
      "ROOT w = (s32[], f32[2]) while(t), condition=cond, body=body }");
  CHECK(count(*module, Opcode::Clamp) == 1);
}

TEST_CASE("the largest finite value of each type is known", "[hlo-passes]") {
  CHECK(largest_finite(Dtype::F32) == static_cast<double>(kMax));
  CHECK(largest_finite(Dtype::F64) == std::numeric_limits<double>::max());
  CHECK(largest_finite(Dtype::F16) == 65504);
  CHECK(largest_finite(Dtype::BF16) == 0x1.FEp127);
  CHECK(largest_finite(Dtype::F8E5M2) == 57344);
  CHECK(largest_finite(Dtype::F8E4M3FN) == 448);
  CHECK(has_infinity(Dtype::BF16));
  CHECK_FALSE(has_infinity(Dtype::F8E4M3FN));
}

}  // namespace
}  // namespace ncc::hlo_passes
