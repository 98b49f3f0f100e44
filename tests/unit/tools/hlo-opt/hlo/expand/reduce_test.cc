#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// JAX's arg max body: NaN first, then the larger value, then the lower index.
std::string arg_module(const std::string& type, const std::string& better, const std::string& extreme,
                       const std::string& first = "0", const std::string& tie = "LT") {
  const bool floats = type[0] == 'f' || type[0] == 'b';
  return "HloModule m\nbody {\n  a = " + type + "[] parameter(0)\n  i = s32[] parameter(1)\n  b = " + type +
         "[] parameter(2)\n  j = s32[] parameter(3)\n  better = pred[] compare(a, b), direction=" + better +
         "\n" +
         (floats ? "  nan = pred[] compare(a, a), direction=NE\n  keep = pred[] or(better, nan)\n"
                 : "  keep = pred[] or(better, better)\n") +
         "  same = pred[] compare(a, b), direction=EQ\n  before = pred[] compare(i, j), direction=" + tie +
         "\n  tie = pred[] and(same, before)\n  first = pred[] or(keep, tie)\n  v = " + type +
         "[] select(keep, a, b)\n  n = s32[] select(first, i, j)\n  w = " + type +
         "[] select(first, a, b)\n  ROOT r = (" + type +
         "[], s32[]) tuple(w, n)\n}\nENTRY main {\n  x = " + type +
         "[5,30,2] parameter(0)\n  k = s32[30] iota(), iota_dimension=0\n  n = s32[5,30,2] broadcast(k), "
         "dimensions={1}\n  lowest = " +
         type + "[] constant(" + extreme + ")\n  zero = s32[] constant(" + first + ")\n  ROOT r = (" + type +
         "[5,2], s32[5,2]) reduce(x, n, lowest, zero), dimensions={1}, to_apply=body\n}\n";
}

TEST_CASE("arg max and arg min keep values, signs of zero and the first index", "[expanders]") {
  for (const char* type : {"f32", "bf16", "f64"}) {
    INFO(type);
    for (const auto& [better, extreme] : {std::pair("GT", "-inf"), std::pair("LT", "inf")}) {
      const auto module = after("transform-variadic-reduce", arg_module(type, better, extreme));
      CHECK(root(*module).is(Opcode::Tuple));
    }
  }
  for (const auto& [better, extreme] : {std::pair("GT", "-2147483648"), std::pair("LT", "2147483647")})
    CHECK(root(*after("transform-variadic-reduce", arg_module("s32", better, extreme))).is(Opcode::Tuple));
  CHECK(root(*after("transform-variadic-reduce", arg_module("u8", "GT", "0"))).is(Opcode::Tuple));
}

TEST_CASE("a body may keep the value of the later one of equals", "[expanders]") {
  // Zeros of both signs are equal: the value's sign is that of the last, the index that of the first.
  for (const auto& [better, extreme] : {std::pair("GT", "-inf"), std::pair("LT", "inf")}) {
    std::string text = arg_module("f32", better, extreme);
    text.replace(text.find("tuple(w, n)"), 11, "tuple(v, n)");
    CHECK(root(*after("transform-variadic-reduce", text)).is(Opcode::Tuple));
  }
}

TEST_CASE("bodies that are no arg max of the first index stay", "[expanders]") {
  // The last index of equals; a start that could win; an index from elsewhere.
  CHECK(root(*after("transform-variadic-reduce", arg_module("f32", "GT", "-inf", "0", "GT")))
            .is(Opcode::Reduce));
  CHECK(root(*after("transform-variadic-reduce", arg_module("f32", "GT", "0"))).is(Opcode::Reduce));
  CHECK(root(*after("transform-variadic-reduce", arg_module("f32", "GT", "-inf", "7"))).is(Opcode::Reduce));
}

TEST_CASE("separable reductions become one each", "[expanders]") {
  const auto module = plain_after("transform-variadic-reduce", R"(HloModule m
body { a = f32[] parameter(0)
  b = s32[] parameter(1)
  x = f32[] parameter(2)
  y = s32[] parameter(3)
  s = f32[] add(a, x)
  m = s32[] maximum(b, y)
  ROOT r = (f32[], s32[]) tuple(s, m) }
ENTRY main {
  x = f32[4,5] parameter(0)
  y = s32[4,5] parameter(1)
  f = f32[] constant(1)
  i = s32[] constant(-9)
  ROOT r = (f32[4], s32[4]) reduce(x, y, f, i), dimensions={1}, to_apply=body
}
)");
  CHECK(root(*module).is(Opcode::Tuple));
  CHECK(count(*module, Opcode::Reduce) == 2);
}

TEST_CASE("sort keys leave the comparator", "[expanders]") {
  const char* text = R"(HloModule m
order { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  zero = f32[] constant(0)
  nan = f32[] constant(nan)
  za = pred[] compare(a, zero), direction=EQ
  fa = f32[] select(za, zero, a)
  na = pred[] compare(a, a), direction=NE
  ka = f32[] select(na, nan, fa)
  zb = pred[] compare(b, zero), direction=EQ
  fb = f32[] select(zb, zero, b)
  nb = pred[] compare(b, b), direction=NE
  kb = f32[] select(nb, nan, fb)
  ROOT before = pred[] compare(ka, kb), direction=LT, type=TOTALORDER }
ENTRY main {
  x = f32[6,50] parameter(0)
  n = s32[6,50] iota(), iota_dimension=1
  ROOT s = (f32[6,50], s32[6,50]) sort(x, n), dimensions={1}, is_stable=true, to_apply=order
}
)";
  const auto module = after("sort-comparator-canonicalizer", text);
  for (const auto& inst : module->entry()->instructions()) {
    if (!inst->is(Opcode::Sort)) continue;
    CHECK(inst->num_operands() == 3);
    CHECK(inst->body()->size() == 7);
  }
}

TEST_CASE("a comparator starts with the left element", "[expanders]") {
  const auto module = after("sort-comparator-canonicalizer", R"(HloModule m
order { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT before = pred[] compare(b, a), direction=GT }
ENTRY main {
  x = f32[6,50] parameter(0)
  ROOT s = f32[6,50] sort(x), dimensions={0}, is_stable=true, to_apply=order
}
)");
  CHECK(root(*module).body()->root()->direction == hlo::CompareDirection::LT);
  CHECK(root(*module).body()->root()->operand(0)->index == 0);
}

std::string select_and_scatter(const std::string& type, const std::string& direction,
                               const std::string& scatter, const std::string& source,
                               const std::string& window) {
  const std::string init = type[0] == 's' ? "3" : "0.5";
  return "HloModule m\nselect { a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=" + direction +
         " }\nscatter { a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT c = " + type + "[] " + scatter + "(a, b) }\nENTRY main {\n  x = " + type +
         "[2,9,7] parameter(0)\n  s = " + type + source + " parameter(1)\n  z = " + type + "[] constant(" +
         init + ")\n  ROOT r = " + type + "[2,9,7] select-and-scatter(x, s, z), window={" + window +
         "}, select=select, scatter=scatter\n}\n";
}

TEST_CASE("select-and-scatter meets its sources in their order", "[expanders]") {
  struct Row {
    const char *source, *window;
  };
  const Row rows[] = {
      {"[2,4,3]", "size=1x2x3 stride=1x2x2"},                  // windows that leave a rest, and overlap
      {"[2,9,7]", "size=1x3x3 stride=1x1x1 pad=0_0x1_1x1_1"},  // overlapping, with padding
      {"[2,5,3]", "size=1x2x2 stride=1x2x3 pad=0_0x0_1x1_0"},  // gaps
      {"[1,3,2]", "size=2x3x3 stride=1x3x4"},
  };
  for (const char* type : {"f32", "bf16", "s32"}) {
    for (const char* direction : {"GE", "GT", "LT"}) {
      for (const char* scatter : {"add", "maximum", "subtract"}) {
        for (const Row& row : rows) {
          INFO(type << " " << direction << " " << scatter << " " << row.window);
          const auto module = after("select-and-scatter-expander",
                                    select_and_scatter(type, direction, scatter, row.source, row.window));
          CHECK(count(*module, Opcode::SelectAndScatter) == 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
