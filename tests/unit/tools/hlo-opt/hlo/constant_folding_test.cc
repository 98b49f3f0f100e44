#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

TEST_CASE("folding computes what the interpreter computes", "[hlo-passes]") {
  const auto module = after("constant_folding", R"(HloModule m
ENTRY main {
  a = s8[3] constant({100, 27, -128})
  b = s8[3] constant({100, 1, -128})
  ROOT r = s8[3] add(a, b)
})");
  REQUIRE(root(*module).is(Opcode::Constant));
  CHECK(root(*module).literal.as_int64(0) == -56);
  CHECK(root(*module).literal.as_int64(1) == 28);
  CHECK(root(*module).literal.as_int64(2) == 0);
}

TEST_CASE("results over the limit, loops, effects and random numbers are not folded", "[hlo-passes]") {
  PassOptions limits;
  limits.max_folded_bytes = 8;
  const char* text = "HloModule m\nENTRY main { a = f32[3] constant({1, 2, 3})\n ROOT r = f32[3] negate(a) }";
  CHECK(root(*after("constant_folding", text, limits)).is(Opcode::Negate));
  CHECK(root(*after("constant_folding", text)).is(Opcode::Constant));
  CHECK(root(*after("constant_folding", R"(HloModule m
condition { s = s32[] parameter(0)
  n = s32[] constant(10)
  ROOT c = pred[] compare(s, n), direction=LT }
body { s = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT r = s32[] add(s, one) }
ENTRY main { zero = s32[] constant(0)
  ROOT w = s32[] while(zero), condition=condition, body=body })"))
            .is(Opcode::While));
}

TEST_CASE("several results become a tuple of constants", "[hlo-passes]") {
  const auto module = after("constant_folding", R"(HloModule m
less { a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY main { k = s32[3] constant({3, 1, 2})
  v = f32[3] constant({30, 10, 20})
  ROOT s = (s32[3], f32[3]) sort(k, v), dimensions={0}, is_stable=true, to_apply=less })");
  REQUIRE(root(*module).is(Opcode::Tuple));
  CHECK(root(*module).operand(1)->literal.as_double(0) == 10);
}

}  // namespace
}  // namespace ncc::hlo_passes
