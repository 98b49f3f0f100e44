#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// A program of parameters a, b (f32), i, j (s32), u (u32), p (pred), all [4,6], and splats; `lines` end in
// ROOT.
std::string program(const std::string& lines) {
  return "HloModule m\nENTRY main {\n"
         "a = f32[4,6] parameter(0)\nb = f32[4,6] parameter(1)\ni = s32[4,6] parameter(2)\n"
         "j = s32[4,6] parameter(3)\nu = u32[4,6] parameter(4)\np = pred[4,6] parameter(5)\n" +
         lines + "\n}";
}

std::string splat(const std::string& name, const std::string& type, const std::string& value) {
  return name + "0 = " + type + "[] constant(" + value + ")\n" + name + " = " + type + "[4,6] broadcast(" +
         name + "0), dimensions={}\n";
}

Opcode root_after(const std::string& lines) { return root(*after("algsimp", program(lines))).opcode; }

TEST_CASE("float sums drop only a negative zero", "[hlo-passes]") {
  CHECK(root_after(splat("c", "f32", "0") + "ROOT r = f32[4,6] add(a, c)") == Opcode::Add);
  CHECK(root_after(splat("c", "f32", "-0") + "ROOT r = f32[4,6] add(a, c)") == Opcode::Parameter);
  CHECK(root_after(splat("c", "f32", "0") + "ROOT r = f32[4,6] subtract(a, c)") == Opcode::Parameter);
  CHECK(root_after(splat("c", "f32", "-0") + "ROOT r = f32[4,6] subtract(a, c)") == Opcode::Subtract);
  CHECK(root_after(splat("c", "s32", "0") + "ROOT r = s32[4,6] add(c, i)") == Opcode::Parameter);
}

TEST_CASE("float products with zero and differences with oneself stay", "[hlo-passes]") {
  CHECK(root_after(splat("c", "f32", "0") + "ROOT r = f32[4,6] multiply(a, c)") == Opcode::Multiply);
  CHECK(root_after(splat("c", "s32", "0") + "ROOT r = s32[4,6] multiply(i, c)") == Opcode::Broadcast);
  CHECK(root_after("ROOT r = f32[4,6] subtract(a, a)") == Opcode::Subtract);
  CHECK(root_after("ROOT r = s32[4,6] subtract(i, i)") == Opcode::Broadcast);
  CHECK(root_after(splat("c", "f32", "-1") + "ROOT r = f32[4,6] multiply(a, c)") == Opcode::Negate);
}

TEST_CASE("division becomes multiplication only by an exact reciprocal", "[hlo-passes]") {
  CHECK(root_after(splat("c", "f32", "8") + "ROOT r = f32[4,6] divide(a, c)") == Opcode::Multiply);
  CHECK(root_after(splat("c", "f32", "-0.125") + "ROOT r = f32[4,6] divide(a, c)") == Opcode::Multiply);
  CHECK(root_after(splat("c", "f32", "3") + "ROOT r = f32[4,6] divide(a, c)") == Opcode::Divide);
  CHECK(root_after(splat("c", "f32", "1.7014118e38") + "ROOT r = f32[4,6] divide(a, c)") == Opcode::Divide);
  CHECK(root_after(splat("c", "u32", "8") + "ROOT r = u32[4,6] divide(u, c)") == Opcode::ShiftRightLogical);
  CHECK(root_after(splat("c", "s32", "8") + "ROOT r = s32[4,6] divide(i, c)") == Opcode::Divide);
  CHECK(root_after(splat("c", "s32", "8") + "ROOT r = s32[4,6] remainder(i, c)") == Opcode::Remainder);
}

TEST_CASE("a negated comparison is the opposite one only where NaN does not matter", "[hlo-passes]") {
  CHECK(root_after("c = pred[4,6] compare(a, b), direction=LT\nROOT r = pred[4,6] not(c)") == Opcode::Not);
  CHECK(root_after("c = pred[4,6] compare(a, b), direction=EQ\nROOT r = pred[4,6] not(c)") ==
        Opcode::Compare);
  CHECK(root_after("c = pred[4,6] compare(i, j), direction=LT\nROOT r = pred[4,6] not(c)") ==
        Opcode::Compare);
}

TEST_CASE("extremes drop the value that changes nothing", "[hlo-passes]") {
  CHECK(root_after(splat("c", "f32", "-inf") + "ROOT r = f32[4,6] maximum(a, c)") == Opcode::Parameter);
  CHECK(root_after(splat("c", "f32", "inf") + "ROOT r = f32[4,6] maximum(a, c)") == Opcode::Maximum);
  CHECK(root_after(splat("c", "f32", "-3.4028235e38") + "ROOT r = f32[4,6] maximum(a, c)") ==
        Opcode::Maximum);
  CHECK(root_after(splat("c", "s32", "-2147483648") + "ROOT r = s32[4,6] maximum(i, c)") ==
        Opcode::Parameter);
}

TEST_CASE("conversions through a wider type of the same kind are direct", "[hlo-passes]") {
  CHECK(root_after("w = f64[4,6] convert(a)\nROOT r = f32[4,6] convert(w)") == Opcode::Parameter);
  // Narrow and back loses bits; through a float an integer saturates where a direct conversion wraps.
  const auto narrow = after("algsimp", program("n = bf16[4,6] convert(a)\nROOT r = f32[4,6] convert(n)"));
  CHECK(count(*narrow, Opcode::Convert) == 2);
  const auto mixed = after("algsimp", program("w = f64[4,6] convert(i)\nROOT r = s8[4,6] convert(w)"));
  CHECK(count(*mixed, Opcode::Convert) == 2);
  const auto wide = after("algsimp", program("w = s64[4,6] convert(i)\nROOT r = s8[4,6] convert(w)"));
  CHECK(count(*wide, Opcode::Convert) == 1);
}

TEST_CASE("selects with known, inverted or repeated predicates", "[hlo-passes]") {
  CHECK(root_after("ROOT r = f32[4,6] select(p, a, a)") == Opcode::Parameter);
  CHECK(root_after(splat("t", "pred", "true") + "ROOT r = f32[4,6] select(t, a, b)") == Opcode::Parameter);
  const auto inverted = after("algsimp", program("n = pred[4,6] not(p)\nROOT r = f32[4,6] select(n, a, b)"));
  CHECK(root(*inverted).operand(1)->name == "b");
  const auto nested =
      after("algsimp", program("s = f32[4,6] select(p, a, b)\nROOT r = f32[4,6] select(p, s, b)"));
  CHECK(root(*nested).operand(1)->name == "a");
}

TEST_CASE("movements compose", "[hlo-passes]") {
  CHECK(
      root_after(
          "t = f32[6,4] transpose(a), dimensions={1,0}\nROOT r = f32[4,6] transpose(t), dimensions={1,0}") ==
      Opcode::Parameter);
  CHECK(root_after("x = f32[24] reshape(a)\nROOT r = f32[4,6] reshape(x)") == Opcode::Parameter);
  CHECK(root_after("x = f32[4,6] reverse(a), dimensions={0}\nROOT r = f32[4,6] reverse(x), dimensions={0}") ==
        Opcode::Parameter);
  CHECK(root_after("z = f32[] constant(0)\nx = f32[6,7] pad(a, z), padding=1_1x0_1\n"
                   "ROOT r = f32[4,6] slice(x), slice={[1:5], [0:6]}") == Opcode::Parameter);
  CHECK(
      root_after("l = f32[4,2] slice(a), slice={[0:4], [0:2]}\nh = f32[4,4] slice(a), slice={[0:4], [2:6]}\n"
                 "ROOT r = f32[4,6] concatenate(l, h), dimensions={1}") == Opcode::Parameter);
  CHECK(root_after("x = f32[4,1,6] reshape(a)\nROOT r = f32[1,4,6] transpose(x), dimensions={1,0,2}") ==
        Opcode::Reshape);
  CHECK(root_after("x = f32[2,4,6] broadcast(a), dimensions={1,2}\n"
                   "ROOT r = f32[2,6,4] transpose(x), dimensions={0,2,1}") == Opcode::Transpose);
}

TEST_CASE("slices of strided slices, reverses and negative pads keep their elements", "[hlo-passes]") {
  // Values are compared by the execution check; the counts say that the rule applied.
  const auto slices = after("algsimp", program("x = f32[4,3] slice(a), slice={[0:4], [1:6:2]}\n"
                                               "ROOT r = f32[2,2] slice(x), slice={[0:4:3], [1:3]}"));
  CHECK(count(*slices, Opcode::Slice) == 1);
  const auto reversed = after("algsimp", program("x = f32[4,6] reverse(a), dimensions={1}\n"
                                                 "ROOT r = f32[4,2] slice(x), slice={[0:4], [1:3]}"));
  CHECK(root(*reversed).is(Opcode::Reverse));
  const auto negative =
      after("algsimp", program("z = f32[] constant(7)\nROOT r = f32[2,9] pad(a, z), padding=-1_-1x3_0"));
  CHECK(count(*negative, Opcode::Slice) + count(*negative, Opcode::Pad) == 2);
  const auto cut =
      after("algsimp", program("z = f32[] constant(7)\nROOT r = f32[1,6] pad(a, z), padding=-5_2x0_0"));
  CHECK(root(*cut).is(Opcode::Slice));
}

TEST_CASE("dynamic slices with constant starts are slices, clamped", "[hlo-passes]") {
  const auto high =
      after("algsimp", program("c = s32[] constant(3)\nn = s32[] constant(-2)\n"
                               "ROOT r = f32[2,6] dynamic-slice(a, c, n), dynamic_slice_sizes={2,6}"));
  CHECK(root(*high).is(Opcode::Slice));
  CHECK(root(*high).attrs().slice_starts == std::vector<int64_t>{2, 0});
  const auto huge =
      after("algsimp", program("c = u64[] constant(18446744073709551615)\nz = u64[] constant(0)\n"
                               "ROOT r = f32[2,6] dynamic-slice(a, c, z), dynamic_slice_sizes={2,6}"));
  CHECK(root(*huge).attrs().slice_starts == std::vector<int64_t>{2, 0});
}

TEST_CASE("reductions of transposes only where order does not matter", "[hlo-passes]") {
  const auto with_body = [](const std::string& op) {
    return "HloModule m\nbody { x = f32[] parameter(0)\ny = f32[] parameter(1)\nROOT z = f32[] " + op +
           "(x, y) }\nENTRY main { a = f32[4,6] parameter(0)\ni = f32[] parameter(1)\n"
           "t = f32[6,4] transpose(a), dimensions={1,0}\n"
           "ROOT r = f32[4] reduce(t, i), dimensions={0}, to_apply=body }";
  };
  CHECK(count(*after("algsimp", with_body("maximum")), Opcode::Transpose) == 0);
  CHECK(count(*after("algsimp", with_body("add")), Opcode::Transpose) == 1);
}

}  // namespace
}  // namespace ncc::hlo_passes
