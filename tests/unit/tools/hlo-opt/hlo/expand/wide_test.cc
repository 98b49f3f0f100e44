#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// Numbers around every border of words and signs.
std::string numbers(bool is_signed) {
  const char* edges =
      is_signed ? "{0, 1, -1, 4294967295, 4294967296, -4294967296, 2147483648, -2147483649, "
                  "9223372036854775807, -9223372036854775808, 6148914691236517205, -81985529216486896}"
                : "{0, 1, 18446744073709551615, 4294967295, 4294967296, 18446744069414584320, "
                  "2147483648, 9223372036854775807, 9223372036854775808, 6148914691236517205, "
                  "12297829382473034410, 81985529216486895}";
  const std::string type = is_signed ? "s64" : "u64";
  return "  edges = " + type + "[12] constant(" + edges + ")\n  a = " + type +
         "[12,12] broadcast(edges), dimensions={0}\n  b = " + type +
         "[12,12] broadcast(edges), dimensions={1}\n";
}

std::string module_of(bool is_signed, const std::string& line) {
  return "HloModule m\nENTRY main {\n" + numbers(is_signed) + "  ROOT r = " + line + "\n}\n";
}

TEST_CASE("64-bit arithmetic on words keeps every bit", "[expanders]") {
  for (bool is_signed : {false, true}) {
    const std::string type = std::string(is_signed ? "s64" : "u64") + "[12,12] ";
    for (const char* op : {"add", "subtract", "multiply", "and", "or", "xor", "maximum", "minimum"}) {
      INFO(type << op);
      const auto module = plain_after("lower-64-bit", module_of(is_signed, type + op + "(a, b)"));
      CHECK(count(*module, Opcode::BitcastConvert) == 1);
    }
    for (const char* op : {"not", "negate"})
      plain_after("lower-64-bit", module_of(is_signed, type + op + "(a)"));
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
      plain_after("lower-64-bit",
                  module_of(is_signed, std::string("pred[12,12] compare(a, b), direction=") + direction));
    for (const char* to : {"pred", "s8", "u16", "s32", "u32", "s64", "u64", "f32"})
      plain_after("lower-64-bit", module_of(is_signed, std::string(to) + "[12,12] convert(a)"));
  }
  plain_after("lower-64-bit", module_of(true, "s64[12,12] abs(a)"));
}

// No 64-bit arithmetic is left: joins and data that enters alone.
bool is_lowered(const hlo::Module& module) {
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions()) {
      const bool is_wide = inst->shape.dtype == Dtype::S64 || inst->shape.dtype == Dtype::U64;
      if (inst->shape.is_array() && is_wide && !inst->is(Opcode::BitcastConvert) &&
          !inst->is(Opcode::Parameter) && computation->is_entry())
        return false;
    }
  return true;
}

TEST_CASE("64-bit division, counts of bits, signs and bounds", "[expanders]") {
  for (bool is_signed : {false, true}) {
    const std::string type = std::string(is_signed ? "s64" : "u64") + "[12,12] ";
    for (const char* op : {"divide(a, b)", "remainder(a, b)", "sign(a)", "popcnt(a)",
                           "count-leading-zeros(a)", "clamp(b, a, a)"}) {
      INFO(type << op);
      CHECK(is_lowered(*plain_after("lower-64-bit", module_of(is_signed, type + op))));
    }
  }
  const auto scalars =
      after("lower-64-bit",
            "HloModule m\nENTRY main {\n  x = s64[40] parameter(0)\n  l = s64[] parameter(1)\n"
            "  h = s64[] parameter(2)\n  ROOT r = s64[40] clamp(l, x, h)\n}\n");
  CHECK(count(*scalars, Opcode::Clamp) == 0);
}

TEST_CASE("64-bit reductions and run-time places are on words", "[expanders]") {
  for (const char* type : {"s64", "u64"}) {
    const std::string t = type;
    for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      INFO(type << " " << op);
      const auto module =
          after("lower-64-bit", "HloModule m\nbody { a = " + t + "[] parameter(0)\n  b = " + t +
                                    "[] parameter(1)\n  ROOT r = " + t + "[] " + op +
                                    "(a, b) }\nENTRY main {\n  x = " + t + "[5,30] parameter(0)\n  z = " + t +
                                    "[] parameter(1)\n  ROOT r = " + t +
                                    "[5] reduce(x, z), dimensions={1}, to_apply=body\n}\n");
      CHECK(is_lowered(*module));
    }
    const auto places =
        after("lower-64-bit", "HloModule m\nENTRY main {\n  x = " + t +
                                  "[9,4] parameter(0)\n  i = s32[] parameter(1)\n"
                                  "  u = " +
                                  t + "[2,4] parameter(2)\n  d = " + t +
                                  "[9,4] dynamic-update-slice(x, u, i, i)\n"
                                  "  s = " +
                                  t +
                                  "[3,4] dynamic-slice(d, i, i), dynamic_slice_sizes={3,4}\n"
                                  "  k = s32[2,1] parameter(3)\n"
                                  "  ROOT g = " +
                                  t +
                                  "[2,4] gather(s, k), offset_dims={1}, collapsed_slice_dims={0}, "
                                  "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}\n}\n");
    CHECK(is_lowered(*places));
  }
}

TEST_CASE("values of open size stay 64 bits wide", "[expanders]") {
  Result<std::unique_ptr<hlo::Module>> module = hlo::read_stablehlo(
      "func.func @main(%x: tensor<?xi64>) -> tensor<i64> {\n  %z = stablehlo.constant dense<0> : "
      "tensor<i64>\n"
      "  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xi64>, "
      "tensor<i64>) -> tensor<i64>\n  return %r : tensor<i64>\n}",
      "test.mlir");
  REQUIRE(module.is_ok());
  PassContext context;
  REQUIRE(find_pass("lower-64-bit")->run(*module.value(), context).is_ok());
  CHECK(count(*module.value(), Opcode::Reduce) == 1);
}

TEST_CASE("64-bit shifts by every amount, also those out of range", "[expanders]") {
  for (bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s64" : "u64";
    for (const char* op : {"shift-left", "shift-right-logical", "shift-right-arithmetic"}) {
      INFO(type << " " << op);
      plain_after("lower-64-bit", "HloModule m\nENTRY main {\n" + numbers(is_signed) + "  n = " + type +
                                      "[12,70] iota(), iota_dimension=1\n  x = " + type +
                                      "[12,70] broadcast(edges), dimensions={0}\n  ROOT r = " + type +
                                      "[12,70] " + op + "(x, n)\n}\n");
      plain_after("lower-64-bit", module_of(is_signed, type + "[12,12] " + op + "(a, b)"));
    }
  }
}

TEST_CASE("narrow integers widen by their sign, and words move like the values", "[expanders]") {
  const auto module = plain_after("lower-64-bit", R"(HloModule m
ENTRY main {
  p = pred[3] parameter(0)
  s8 = s8[3] parameter(1)
  s32 = s32[3] parameter(2)
  u32 = u32[3] parameter(3)
  x = s64[3] parameter(4)
  a = s64[3] convert(p)
  b = s64[3] convert(s8)
  c = s64[3] convert(s32)
  d = s64[3] convert(u32)
  ab = s64[6] concatenate(a, b), dimensions={0}
  cd = s64[6] concatenate(c, d), dimensions={0}
  both = s64[6] add(ab, cd)
  one = s64[] constant(-1)
  padded = s64[8] pad(both, one), padding=1_1
  r = s64[8] reverse(padded), dimensions={0}
  s = s64[3] slice(r), slice={[1:7:2]}
  q = s64[3] power(s, x)
  ROOT t = s64[3] subtract(q, s)
}
)");
  CHECK(count(*module, Opcode::Power) == 1);
}

std::string scan(const std::string& steps, const std::string& attributes) {
  return "HloModule m\nbody { x = f32[2] parameter(0)\n  c = f32[2] parameter(1)\n  s = f32[2] add(c, x)\n  "
         "p = f32[2] "
         "multiply(s, x)\n  ROOT r = (f32[2], f32[2]) tuple(p, s) }\nENTRY main {\n  x = f32[" +
         steps + ",2] parameter(0)\n  z = f32[2] parameter(1)\n  ROOT r = (f32[" + steps +
         ",2], f32[2]) scan(x, z)" + attributes + ", to_apply=body\n}\n";
}

TEST_CASE("scans run forwards and backwards, short and long", "[expanders]") {
  for (const char* steps : {"5", "1", "40", "0"}) {
    for (const char* reverse : {"false", "true"}) {
      INFO(steps << " " << reverse);
      const auto module =
          after("scan-expander",
                scan(steps, std::string(", dimensions={0}, num_carries=1, is_reverse=") + reverse));
      CHECK(count(*module, Opcode::Scan) == 0);
      CHECK(count(*module, Opcode::While) == (std::string(steps) == "40"));
    }
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
