#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// `variance` of the generated inputs may be negative: the results are NaN then, before and after.
std::string inference(const std::string& x, const std::string& f, int64_t feature) {
  return "HloModule m\nENTRY main {\n  x = " + x + " parameter(0)\n  s = " + f + " parameter(1)\n  o = " + f +
         " parameter(2)\n  m = " + f + " parameter(3)\n  p = " + f + " parameter(4)\n  v = " + f +
         " multiply(p, p)\n  ROOT r = " + x +
         " batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index=" + std::to_string(feature) +
         "\n}\n";
}

std::string training(const std::string& x, const std::string& f, int64_t feature) {
  return "HloModule m\nENTRY main {\n  x = " + x + " parameter(0)\n  s = " + f + " parameter(1)\n  o = " + f +
         " parameter(2)\n  ROOT r = (" + x + ", " + f + ", " + f +
         ") batch-norm-training(x, s, o), epsilon=0.001, feature_index=" + std::to_string(feature) + "\n}\n";
}

std::string grad(const std::string& x, const std::string& f, int64_t feature) {
  return "HloModule m\nENTRY main {\n  x = " + x + " parameter(0)\n  s = " + f + " parameter(1)\n  m = " + f +
         " parameter(2)\n  p = " + f + " parameter(3)\n  v = " + f + " multiply(p, p)\n  g = " + x +
         " parameter(4)\n  ROOT r = (" + x + ", " + f + ", " + f +
         ") batch-norm-grad(x, s, m, v, g), epsilon=0.001, feature_index=" + std::to_string(feature) +
         "\n}\n";
}

TEST_CASE("batch norm ops keep their values for every type and feature dimension", "[expanders]") {
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    for (int64_t feature : {0, 1, 3}) {
      const std::string t = type, x = t + "[4,4,3,4]", f = t + "[4]";
      INFO(t << " feature " << feature);
      CHECK(count(*plain_after("batchnorm-expander", inference(x, f, feature)), Opcode::BatchNormInference) ==
            0);
      CHECK(count(*plain_after("batchnorm-expander", training(x, f, feature)), Opcode::BatchNormTraining) ==
            0);
      CHECK(count(*plain_after("batchnorm-expander", grad(x, f, feature)), Opcode::BatchNormGrad) == 0);
    }
  }
}

TEST_CASE("batch norm of features without elements has mean and variance 0", "[expanders]") {
  for (const char* x : {"f32[0,3,5]", "f32[0,3]"}) {
    const auto module = plain_after("batchnorm-expander", training(x, "f32[3]", 1));
    CHECK(count(*module, Opcode::BatchNormTraining) == 0);
  }
}

TEST_CASE("bf16 batch-norm-training computes in f32", "[expanders]") {
  const auto module = plain_after("batch-norm-training-upcast", training("bf16[4,3,5]", "bf16[3]", 1));
  REQUIRE(count(*module, Opcode::BatchNormTraining) == 1);
  for (const auto& inst : module->entry()->instructions()) {
    if (inst->is(Opcode::BatchNormTraining)) CHECK(inst->operand_shape(0).dtype == Dtype::F32);
  }
  const auto wide = plain_after("batch-norm-training-upcast", training("f32[4,3,5]", "f32[3]", 1));
  CHECK(root(*wide).is(Opcode::BatchNormTraining));
}

}  // namespace
}  // namespace ncc::hlo_passes
