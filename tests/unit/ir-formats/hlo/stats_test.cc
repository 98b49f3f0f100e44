#include "ir-formats/hlo/stats.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

namespace ncc::hlo {
namespace {

constexpr std::string_view kLoop = R"(HloModule loop
body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  step = s32[] constant(2)
  next = s32[] add(i, step)
  x = f32[8,8] get-tuple-element(s), index=1
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[8,8]) tuple(next, y)
}
more {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(9)
  ROOT go = pred[] compare(i, end), direction=LT
}
ENTRY e {
  a = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[8,8]) tuple(zero, a)
  w = (s32[], f32[8,8]) while(init), condition=more, body=body
  ROOT r = f32[8,8] get-tuple-element(w), index=1
}
)";

TEST_CASE("a loop's work counts once for each of its trips", "[hlo][stats]") {
  const auto module = read_hlo_text(kLoop, "loop.hlo").take();
  CHECK(constant_trip_count(*module->entry()->root()->operand(0)) == 5);
  const ModuleStats made = stats(*module);
  CHECK(made.ops.at("dot").count == 1);
  CHECK(made.ops.at("dot").flops == 5 * 2 * 8 * 8 * 8);
  CHECK(made.ops.at("constant").count == 3);
  CHECK(made.parameter_bytes == 256);
  CHECK(made.result_bytes == 256);
  CHECK(made.constant_bytes == 12);
  CHECK(made.unknown_loops == 0);
}

TEST_CASE("a loop without a constant end counts once and is reported", "[hlo][stats]") {
  std::string text(kLoop);
  text.replace(text.find("constant(9)"), 11, "get-tuple-element(s), index=0");
  const auto module = read_hlo_text(text, "loop.hlo").take();
  CHECK(constant_trip_count(*module->entry()->root()->operand(0)) == -1);
  CHECK(stats(*module).ops.at("dot").flops == 2 * 8 * 8 * 8);
  CHECK(print_stats(*module).find("loops_counted_once 1\n") != std::string::npos);
}

TEST_CASE("reductions and windows count what they read", "[hlo][stats]") {
  const auto module =
      read_hlo_text(
          "HloModule r\nplus { l = f32[] parameter(0) r = f32[] parameter(1) ROOT o = add(l, r) }\n"
          "ENTRY e { x = f32[6,10] parameter(0) z = f32[] constant(0) a = f32[6] reduce(x, z), "
          "dimensions={1}, to_apply=plus b = f32[3,10] reduce-window(x, z), window={size=2x1 "
          "stride=2x1}, to_apply=plus ROOT t = (f32[6], f32[3,10]) tuple(a, b) }",
          "r.hlo")
          .take();
  const ModuleStats made = stats(*module);
  CHECK(made.ops.at("reduce").flops == 60);
  CHECK(made.ops.at("reduce-window").flops == 60);
  CHECK(made.flops() == 120);
}

}  // namespace
}  // namespace ncc::hlo
