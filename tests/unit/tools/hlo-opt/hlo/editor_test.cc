#include "tools/hlo-opt/hlo/editor.h"

#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

constexpr const char* kChain = R"(HloModule m
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  s = f32[4] add(a, b)
  n = f32[4] negate(s)
  m = f32[4] multiply(n, n)
  ROOT r = (f32[4], f32[4]) tuple(m, s)
})";

Instruction* named(const hlo::Module& module, const std::string& name) {
  for (const auto& inst : module.entry()->instructions())
    if (inst->name == name) return inst.get();
  return nullptr;
}

TEST_CASE("replacing a value moves its uses and removes what only it needed", "[hlo-passes]") {
  auto module = parse(kChain);
  ComputationEditor edit(module->entry());
  Instruction* n = named(*module, "n");
  Instruction* s = named(*module, "s");
  CHECK(edit.use_count(n) == 2);
  CHECK(edit.use_count(s) == 2);
  edit.replace(n, named(*module, "a"));
  CHECK(edit.is_dead(n));
  CHECK(edit.use_count(s) == 1);
  CHECK(edit.users(named(*module, "a")).size() == 3);
  REQUIRE(edit.finish().is_ok());
  CHECK(module->entry()->size() == 5);
  CHECK(hlo::verify(*module).is_ok());
}

TEST_CASE("a new value that uses the replaced one keeps that use", "[hlo-passes]") {
  auto module = parse(kChain);
  ComputationEditor edit(module->entry());
  Instruction* s = named(*module, "s");
  edit.replace(s, edit.apply(Opcode::Abs, {s}));
  REQUIRE(edit.finish().is_ok());
  CHECK(module->entry()->size() == 7);
  CHECK(named(*module, "n")->operand(0)->is(Opcode::Abs));
  CHECK(hlo::verify(*module).is_ok());
}

TEST_CASE("a replaced root hands the root over", "[hlo-passes]") {
  auto module = parse("HloModule m\nENTRY main { a = f32[4] parameter(0)\n ROOT n = f32[4] negate(a) }");
  ComputationEditor edit(module->entry());
  Instruction* a = named(*module, "a");
  edit.replace(module->entry()->root(), a);
  CHECK(edit.use_count(a) == 1);
  REQUIRE(edit.finish().is_ok());
  CHECK(module->entry()->root() == a);
  CHECK(module->entry()->size() == 1);
}

TEST_CASE("instructions with control edges are not replaced", "[hlo-passes]") {
  auto module = parse(kChain);
  named(*module, "m")->control_predecessors = {named(*module, "n")};
  ComputationEditor edit(module->entry());
  CHECK_FALSE(edit.replace(named(*module, "n"), named(*module, "a")));
  CHECK_FALSE(edit.replace(named(*module, "m"), named(*module, "a")));
  CHECK(edit.changes() == 0);
}

TEST_CASE("visiting reaches instructions made on the way, and ends", "[hlo-passes]") {
  auto module = parse(kChain);
  ComputationEditor edit(module->entry());
  int64_t visits = 0;
  // A rewrite that never settles: the visit budget ends it.
  REQUIRE(edit.visit_all([&](Instruction* inst) {
                ++visits;
                if (inst->is(Opcode::Negate)) edit.replace(inst, edit.apply(Opcode::Negate, inst->operands));
                return Status::ok();
              })
              .is_ok());
  CHECK(visits > 6);
  CHECK(visits < 1000);
  REQUIRE(edit.finish().is_ok());
  CHECK(hlo::verify(*module).is_ok());
}

TEST_CASE("builders derive shapes", "[hlo-passes]") {
  auto module = parse("HloModule m\nENTRY main { ROOT a = f32[2,3] parameter(0) }");
  ComputationEditor edit(module->entry());
  Instruction* a = module->entry()->root();
  CHECK(edit.transpose(a, {1, 0})->shape.dims == Dims{3, 2});
  CHECK(edit.transpose(a, {0, 1}) == a);
  CHECK(edit.reshape(a, {6})->shape.dims == Dims{6});
  CHECK(edit.broadcast(a, {2, 4, 3}, {0, 2})->shape.dims == Dims{2, 4, 3});
  CHECK(edit.slice(a, {0, 1}, {2, 3})->shape.dims == Dims{2, 2});
  CHECK(edit.concatenate({a, a}, 1)->shape.dims == Dims{2, 6});
  CHECK(edit.reduce(a, edit.scalar(Dtype::F32, 0), {1}, Opcode::Add)->shape.dims == Dims{2});
  CHECK(edit.compare(hlo::CompareDirection::LT, a, a)->shape.dtype == Dtype::Pred);
  CHECK(edit.splat(a->shape, 1)->shape.dims == Dims{2, 3});
  hlo::DotDims dims;
  dims.lhs_contracting = dims.rhs_contracting = {1};
  CHECK(edit.dot(a, a, dims)->shape.dims == Dims{2, 2});
  CHECK(scalar_body(*module, Opcode::Add, Dtype::F32) == scalar_body(*module, Opcode::Add, Dtype::F32));
}

}  // namespace
}  // namespace ncc::hlo_passes
