#include "tools/hlo-opt/hlo/equivalence.h"

#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

std::string with_root(const std::string& root) {
  return "HloModule m\nENTRY main {\n  a = f32[64] parameter(0)\n  b = f32[64] parameter(1)\n"
         "  zero = f32[] constant(0)\n  zeros = f32[64] broadcast(zero), dimensions={}\n  ab = f32[64] "
         "add(a, b)\n  aa = "
         "f32[64] add(a, a)\n  ROOT r = " +
         root + "\n}";
}

constexpr PassInfo kExact{"an-exact-pass", nullptr, Stage::OnDemand, Rounding::Exact, "test"};
constexpr PassInfo kRounds{"a-rounding-pass", nullptr, Stage::OnDemand, Rounding::May, "test"};

Status compared(const std::string& before, const std::string& after, const PassInfo& pass, bool specials) {
  Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*parse(with_root(before)), {"", 1, specials});
  REQUIRE(check.is_ok());
  return check->compare(*parse(with_root(after)), pass);
}

TEST_CASE("a changed result names the pass and the element", "[hlo-passes]") {
  const Status status = compared("f32[64] add(a, b)", "f32[64] subtract(a, b)", kExact, false);
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().code == Code::ERUN002);
  CHECK(status.diagnostic().cause.find("an-exact-pass") != std::string::npos);
}

TEST_CASE("generated inputs tell apart what only special values tell apart", "[hlo-passes]") {
  // x + 0 turns -0 into +0, x * 0 is NaN for an infinity: no rewrite of an exact pass may drop them.
  CHECK(compared("f32[64] add(a, b)", "f32[64] add(b, a)", kExact, true).is_ok());
  CHECK_FALSE(compared("f32[64] add(a, zeros)", "f32[64] copy(a)", kExact, true).is_ok());
  CHECK_FALSE(compared("f32[64] multiply(a, zeros)", "f32[64] copy(zeros)", kExact, true).is_ok());
}

TEST_CASE("only a rounding pass may change last places", "[hlo-passes]") {
  const char* before = "f32[64] add(ab, a)";
  const char* after = "f32[64] add(aa, b)";
  CHECK_FALSE(compared(before, after, kExact, false).is_ok());
  CHECK(compared(before, after, kRounds, false).is_ok());
  CHECK_FALSE(compared(before, "f32[64] add(ab, b)", kRounds, false).is_ok());
}

}  // namespace
}  // namespace ncc::hlo_passes
