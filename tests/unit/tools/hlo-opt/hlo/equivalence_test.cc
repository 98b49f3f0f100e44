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

// What check_each_pass says about one pass on a module.
Outcome outcome_of(const std::string& pass, const std::string& text, double seconds = 0) {
  const std::unique_ptr<hlo::Module> module = parse(text);
  Result<std::vector<hlo::Literal>> args = check_arguments(*module, {"", 1, true});
  REQUIRE(args.is_ok());
  EachOptions options;
  options.run.passes = {find_pass(pass)};
  options.seconds = seconds;
  std::vector<Outcome> outcomes;
  const Status status =
      check_each_pass(*module, args.value(), options,
                      [&](std::string_view, Outcome outcome, const Status&) { outcomes.push_back(outcome); });
  REQUIRE(status.is_ok());
  REQUIRE(outcomes.size() == 1);
  return outcomes[0];
}

TEST_CASE("a pass alone is interpreted only when it changes what is computed", "[hlo-passes]") {
  const std::string twice = with_root("f32[64] add(ab, aa)");
  CHECK(outcome_of("cse", twice) == Outcome::Unchanged);
  CHECK(outcome_of("add-may-aliases", twice) == Outcome::Unchanged);
  CHECK(outcome_of("algsimp", with_root("f32[64] subtract(ab, aa), metadata={op_name=\"x\"}")) ==
        Outcome::Unchanged);
  const std::string folds = with_root("f32[64] add(zeros, zeros)");
  CHECK(outcome_of("constant_folding", folds) == Outcome::Equal);
  CHECK(outcome_of("constant_folding", folds, 1e-9) == Outcome::Untested);
}

TEST_CASE("a pass alone has what it needs before it", "[hlo-passes]") {
  CHECK(outcome_of("collective-stream-id-checker",
                   "HloModule m, replica_count=2\nsum { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  "
                   "ROOT z = f32[] "
                   "add(x, y) }\nENTRY main {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] all-reduce(a), "
                   "replica_groups={{0,1}}, to_apply=sum\n}") == Outcome::Unchanged);
}

TEST_CASE("a module for several devices runs on all of them", "[hlo-passes]") {
  const auto module = [](const std::string& root) {
    return "HloModule m, replica_count=2, num_partitions=2\nsum { x = f32[] parameter(0)\n  y = f32[] "
           "parameter(1)\n"
           "  ROOT z = f32[] add(x, y) }\nENTRY main {\n  a = f32[4] parameter(0)\n"
           "  all = f32[4] all-reduce(a), replica_groups={{0,1}}, to_apply=sum\n"
           "  alone = f32[4] all-reduce(a), replica_groups={{0},{1}}, to_apply=sum\n"
           "  ROOT r = " +
           root + "\n}";
  };
  Result<EquivalenceCheck> check =
      EquivalenceCheck::prepare(*parse(module("f32[4] negate(all)")), {"", 1, false});
  REQUIRE(check.is_ok());
  CHECK(check->compare(*parse(module("f32[4] negate(all)")), kExact).is_ok());
  CHECK_FALSE(check->compare(*parse(module("f32[4] negate(alone)")), kExact).is_ok());
}

// What a wrong pass does: the second of two instructions becomes the first.
void merge(hlo::Module& module, hlo::Opcode opcode) {
  std::vector<hlo::Instruction*> found;
  for (const auto& inst : module.entry()->instructions())
    if (inst->is(opcode)) found.push_back(inst.get());
  REQUIRE(found.size() == 2);
  module.entry()->replace_uses(found[1], found[0]);
  module.entry()->remove_dead();
}

constexpr char kTwoDraws[] = R"(HloModule m
ENTRY main {
  low = f32[] parameter(0)
  high = f32[] parameter(1)
  x = f32[16] rng(low, high), distribution=rng_uniform, metadata={op_name="draw"}
  y = f32[16] rng(low, high), distribution=rng_uniform, metadata={op_name="draw"}
  ROOT d = f32[16] subtract(x, y)
})";

TEST_CASE("two draws that became one are noticed", "[hlo-passes]") {
  const std::unique_ptr<hlo::Module> module = parse(kTwoDraws);
  Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*module, {"", 1, false});
  REQUIRE(check.is_ok());
  CHECK(check->compare(*module, kExact).is_ok());
  merge(*module, hlo::Opcode::Rng);
  const Status status = check->compare(*module, kExact);
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().code == Code::ERUN002);
}

TEST_CASE("passes do not merge draws, and do not see the marks by which they are told apart",
          "[hlo-passes]") {
  for (const char* pass : {"cse", "algsimp", "dce", "reshape-mover", "float-normalization"}) {
    INFO(pass);
    const std::unique_ptr<hlo::Module> module = after(pass, kTwoDraws);
    CHECK(count(*module, hlo::Opcode::Rng) == 2);
    for (const auto& inst : module->entry()->instructions()) CHECK(inst->loc_details == nullptr);
  }
  CHECK(outcome_of("cse", kTwoDraws) == Outcome::Unchanged);
  CHECK(outcome_of("rng-expander", kTwoDraws) == Outcome::Equal);
}

TEST_CASE("a pass that draws other numbers changes nothing else", "[hlo-passes]") {
  constexpr PassInfo kDraws{"a-drawing-pass", nullptr, Stage::OnDemand, Rounding::Draws, "test"};
  const auto text = [](const std::string& drawn, const std::string& plain) {
    return "HloModule m\nENTRY main {\n  low = f32[] parameter(0)\n  high = f32[] parameter(1)\n  x = "
           "f32[16] rng(low, high), "
           "distribution=rng_uniform\n  a = f32[16] broadcast(low), dimensions={}\n  d = f32[16] " +
           drawn + "\n  p = f32[16] " + plain +
           "\n  t = (f32[16], f32[16]) tuple(a, d)\n  ROOT r = ((f32[16], f32[16]), f32[16]) "
           "tuple(t, p)\n}";
  };
  const std::unique_ptr<hlo::Module> module = parse(text("add(x, a)", "negate(a)"));
  Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*module, {"", 1, false});
  REQUIRE(check.is_ok());
  CHECK(check->compare(*parse(text("multiply(x, a)", "negate(a)")), kDraws).is_ok());
  CHECK_FALSE(check->compare(*parse(text("add(x, a)", "add(a, a)")), kDraws).is_ok());
}

TEST_CASE("copies of one draw are draws of their own in the next comparison", "[hlo-passes]") {
  const std::unique_ptr<hlo::Module> module = parse(R"(HloModule m
draw {
  low = f32[] parameter(0)
  high = f32[] parameter(1)
  ROOT x = f32[16] rng(low, high), distribution=rng_uniform
}
ENTRY main {
  low = f32[] parameter(0)
  high = f32[] parameter(1)
  x = f32[16] call(low, high), to_apply=draw
  y = f32[16] call(low, high), to_apply=draw
  ROOT d = f32[16] subtract(x, y)
})");
  Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*module, {"", 1, false});
  REQUIRE(check.is_ok());
  PassContext context;
  REQUIRE(find_pass("call-inliner")->run(*module, context).is_ok());
  CHECK(check->compare(*module, kExact).is_ok());
  REQUIRE(check->tell_apart_draws(*module).is_ok());
  CHECK(check->compare(*module, kExact).is_ok());
  merge(*module, hlo::Opcode::Rng);
  CHECK_FALSE(check->compare(*module, kExact).is_ok());
}

}  // namespace
}  // namespace ncc::hlo_passes
