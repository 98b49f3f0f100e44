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
  q = s64[3] divide(s, x)
  ROOT t = s64[3] subtract(q, s)
}
)");
  CHECK(count(*module, Opcode::Divide) == 1);
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
