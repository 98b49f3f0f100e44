#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"
#include "tools/hlo-opt/hlo/loops.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// A loop over (s32 counter, f32[4] value, f32[4] invariant), started at `start`, that goes on while
// `condition` (i is the counter, n the invariant bound 10) and steps by `step`.
std::string loop(const std::string& start, const std::string& condition, const std::string& step,
                 const std::string& work = "y = f32[4] add(x, k)") {
  return R"(HloModule m
condition { s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = )" +
         condition + R"( }
body { s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  k = f32[4] get-tuple-element(s), index=2
  d = s32[] constant()" +
         step + R"()
  i1 = s32[] add(i, d)
  )" + work +
         R"(
  ROOT t = (s32[], f32[4], f32[4]) tuple(i1, y, k) }
ENTRY main { a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  start = s32[] constant()" +
         start + R"()
  t = (s32[], f32[4], f32[4]) tuple(start, a, b)
  w = (s32[], f32[4], f32[4]) while(t), condition=condition, body=body
  i = s32[] get-tuple-element(w), index=0
  x = f32[4] get-tuple-element(w), index=1
  ROOT r = (s32[], f32[4]) tuple(i, x) })";
}

std::optional<int64_t> trips(const std::string& text, int64_t max_steps = 128) {
  const auto module = parse(text);
  for (const auto& inst : module->entry()->instructions())
    if (inst->is(Opcode::While)) return trip_count(*inst, max_steps);
  return std::nullopt;
}

constexpr const char* kLess = "pred[] compare(i, n), direction=LT";

TEST_CASE("trip counts of counting loops", "[hlo-passes]") {
  CHECK(trips(loop("0", kLess, "1"), 0) == 10);
  CHECK(trips(loop("0", kLess, "3"), 0) == 4);
  CHECK(trips(loop("0", "pred[] compare(i, n), direction=LE", "5"), 0) == 3);
  CHECK(trips(loop("10", kLess, "1"), 0) == 0);
  CHECK(trips(loop("-5", kLess, "1"), 0) == 15);
}

TEST_CASE("other counts are found by running the counter, up to a limit", "[hlo-passes]") {
  const std::string down = loop("13", "pred[] compare(i, n), direction=GT", "-1");
  CHECK(trips(down, 128) == 3);
  CHECK_FALSE(trips(down, 2).has_value());
  CHECK(trips(loop("0", "pred[] compare(i, n), direction=NE", "5"), 128) == 2);
  // Never equal: the limit ends the search.
  CHECK_FALSE(trips(loop("0", "pred[] compare(i, n), direction=NE", "3"), 128).has_value());
}

TEST_CASE("a counter that would wrap has no closed form", "[hlo-passes]") {
  std::string text = loop("0", "pred[] compare(i, n), direction=LE", "1");
  text.replace(text.find("constant(10)"), 12, "constant(2147483647)");
  CHECK_FALSE(trips(text, 16).has_value());
}

TEST_CASE("unrolling within limits gives the loop's results", "[hlo-passes]") {
  CHECK(count(*after("while_loop_unroller", loop("0", kLess, "3")), Opcode::While) == 0);
  PassOptions limits;
  limits.max_unrolled_trips = 3;
  CHECK(count(*after("while_loop_unroller", loop("0", kLess, "3"), limits), Opcode::While) == 1);
  limits.max_unrolled_trips = 100;
  limits.max_unrolled_size = 20;
  CHECK(count(*after("while_loop_unroller", loop("0", kLess, "3"), limits), Opcode::While) == 1);
  CHECK(count(*after("unroll-while-loop", loop("0", kLess, "3")), Opcode::Call) == 4);
}

TEST_CASE("loops of no or one trip are inlined", "[hlo-passes]") {
  CHECK(count(*after("simplify-while-loops", loop("10", kLess, "1")), Opcode::While) == 0);
  CHECK(count(*after("simplify-while-loops", loop("0", kLess, "10")), Opcode::While) == 0);
  CHECK(count(*after("simplify-while-loops", loop("0", kLess, "5")), Opcode::While) == 1);
}

TEST_CASE("invariant work leaves a loop once", "[hlo-passes]") {
  const std::string text = loop(
      "0", kLess, "1", "e = f32[4] exponential(k)\n  e2 = f32[4] multiply(e, e)\n  y = f32[4] add(x, e2)");
  const auto module = after("while-loop-invariant-code-motion", text);
  int64_t outside = 0;
  for (const auto& inst : module->entry()->instructions()) outside += inst->is(Opcode::Exp);
  CHECK(outside == 1);
  CHECK(count(*module, Opcode::Exp) == 1);
  // Nothing is left to move: a second run does not touch the module.
  PassContext context;
  REQUIRE(find_pass("while-loop-invariant-code-motion")->run(*module, context).is_ok());
  CHECK(context.changes == 0);
}

TEST_CASE("bodies that several loops share are not specialised", "[hlo-passes]") {
  std::string text = loop("0", kLess, "1", "e = f32[4] exponential(k)\n  y = f32[4] add(x, e)");
  const std::string first = "w = (s32[], f32[4], f32[4]) while(t), condition=condition, body=body\n";
  text.replace(
      text.find(first), first.size(),
      "w0 = (s32[], f32[4], f32[4]) while(t), condition=condition, body=body\n  w = (s32[], f32[4], f32[4]) "
      "while(w0), condition=condition, body=body\n");
  CHECK(count(*after("while-loop-invariant-code-motion", text), Opcode::Exp) == 1);
  CHECK(count(*after("simplify-while-loops", text), Opcode::While) == 2);
  CHECK(count(*after("flatten-call-graph", text), Opcode::Exp) == 2);
}

TEST_CASE("conditionals select the last branch when the index is out of range", "[hlo-passes]") {
  const auto text = [](const std::string& index) {
    return R"(HloModule m
minus { x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x) }
square { x = f32[4] parameter(0)
  ROOT y = f32[4] multiply(x, x) }
ENTRY main { a = f32[4] parameter(0)
  j = s32[] parameter(1)
  i = )" + index +
           "\n  ROOT c = f32[4] conditional(i, a, a, a), branch_computations={minus, minus, square} }";
  };
  CHECK(root(*after("simplify-conditional", text("s32[] constant(-1)"))).is(Opcode::Multiply));
  CHECK(root(*after("simplify-conditional", text("s32[] constant(1)"))).is(Opcode::Negate));
  CHECK(root(*after("simplify-conditional", text("s32[] copy(j)"))).is(Opcode::Conditional));
  CHECK(root(*after("hilo-conditional-to-select", text("s32[] copy(j)"))).is(Opcode::Select));
}

}  // namespace
}  // namespace ncc::hlo_passes
