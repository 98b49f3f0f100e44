#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

TEST_CASE("random bits and the new state are the op's, for every width, shape and counter", "[expanders]") {
  for (const char* algorithm : {"rng_three_fry", "rng_philox", "rng_default"}) {
    for (const char* bits : {"u32[7]", "u32[3,4]", "u32[3,5,3]", "u32[]", "u64[5]", "u64[2,3]", "s32[6]",
                             "u16[9]", "u8[2,6]", "s64[]", "u32[0,4]"}) {
      // Counters just below a carry into the next word, and into the word after that.
      for (const char* state :
           {"{7, 9}", "{18446744073709551615, 4294967294}", "{3, 18446744073709551614}"}) {
        const std::string text = std::string("HloModule m\nENTRY main {\n  s = u64[2] constant(") + state +
                                 ")\n  ROOT r = (u64[2], " + bits +
                                 ") rng-bit-generator(s), algorithm=" + algorithm + "\n}\n";
        INFO(text);
        CHECK(count(*plain_after("rng-bit-generator-expander", text), Opcode::RngBitGenerator) == 0);
      }
    }
  }
}

TEST_CASE("philox keeps a counter of 128 bits", "[expanders]") {
  for (const char* bits : {"u32[9]", "u64[5]"}) {
    const std::string text = std::string(
                                 "HloModule m\nENTRY main {\n  s = u64[3] constant({5, 18446744073709551615, "
                                 "4294967295})\n  ROOT r = (u64[3], ") +
                             bits + ") rng-bit-generator(s), algorithm=rng_philox\n}\n";
    CHECK(count(*plain_after("rng-bit-generator-expander", text), Opcode::RngBitGenerator) == 0);
  }
}

TEST_CASE("a state of 32-bit words is taken as it is", "[expanders]") {
  const auto module =
      plain_after("rng-bit-generator-expander",
                  "HloModule m\nENTRY main {\n  s = u32[4] parameter(0)\n  ROOT r = (u32[4], u32[5]) "
                  "rng-bit-generator(s), algorithm=rng_three_fry\n}\n");
  CHECK(count(*module, Opcode::RngBitGenerator) == 0);
  CHECK(count(*module, Opcode::BitcastConvert) == 0);
}

}  // namespace
}  // namespace ncc::hlo_passes
