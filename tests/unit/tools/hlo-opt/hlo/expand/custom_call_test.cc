#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

std::string module_of(const std::string& type, const std::string& call) {
  return "HloModule m\nENTRY main {\n  x = " + type + "[3,40] parameter(0)\n  y = " + type +
         "[3,40] parameter(1)\n  scale = " + type +
         "[40] parameter(2)\n  eps = f32[] constant(0.001)\n  ROOT r = " + call + "\n}\n";
}

TEST_CASE("activations and norms of frameworks are open mathematics", "[expanders]") {
  for (const char* type : {"f32", "bf16", "f16"}) {
    const std::string result = std::string(type) + "[3,40] custom-call(";
    for (const char* call :
         {"x), custom_call_target=\"AwsNeuronErf\"", "x), custom_call_target=\"AwsNeuronGelu\"",
          "x), custom_call_target=\"AwsNeuronGeluApprxTanh\"", "x), custom_call_target=\"AwsNeuronSilu\"",
          "x, scale, eps), custom_call_target=\"AwsNeuronRmsNorm\"",
          "x, scale, eps), custom_call_target=\"AwsNeuronRmsNorm\", backend_config=\"1\""}) {
      INFO(type << " " << call);
      const auto module = plain_after("legalize-intrinsics", module_of(type, result + call));
      CHECK(count(*module, Opcode::CustomCall) == 0);
    }
    for (const char* call :
         {"x), custom_call_target=\"AwsNeuronSoftmax\"",
          "x), custom_call_target=\"AwsNeuronSoftmax\", backend_config=\"0\"",
          "x), custom_call_target=\"AwsNeuronSoftmax\", backend_config=\"-2\"",
          "x, y), custom_call_target=\"AwsNeuronSoftmaxBackward\", backend_config=\"1\""}) {
      INFO(type << " " << call);
      const auto module = plain_after("legalize-softmax", module_of(type, result + call));
      CHECK(count(*module, Opcode::CustomCall) == 0);
    }
  }
}

TEST_CASE("selections of frameworks keep values, order and the first index", "[expanders]") {
  for (const char* type : {"f32", "bf16"}) {
    const std::string t = type;
    const auto top = after("legalize-topk",
                           module_of(type, "(" + t +
                                               "[3,5], s32[3,5]) custom-call(x), "
                                               "custom_call_target=\"AwsNeuronTopK\", backend_config=\"5\""));
    CHECK(count(*top, Opcode::TopK) == 1);
    for (const char* target : {"AwsNeuronArgMax", "AwsNeuronArgMin"})
      for (const char* result : {"[3], s32[3])", "[3], u32[3])"}) {
        const auto arg =
            plain_after("lower-argminmax-custom-call",
                        module_of(type, "(" + t + result + " custom-call(x), custom_call_target=\"" + target +
                                            "\", backend_config=\"1\""));
        CHECK(count(*arg, Opcode::CustomCall) == 0);
      }
  }
  const auto integers =
      after("lower-argminmax-custom-call",
            module_of("s32",
                      "(s32[40], s32[40]) custom-call(x), custom_call_target=\"AwsNeuronArgMin\", "
                      "backend_config=\"0\""));
  CHECK(count(*integers, Opcode::CustomCall) == 0);
  const auto index =
      after("lower-argminmax-custom-call",
            module_of("s32",
                      "s32[3] custom-call(x), custom_call_target=\"AwsNeuronArgMax\", backend_config=\"1\""));
  CHECK(count(*index, Opcode::CustomCall) == 0);
}

TEST_CASE("calls with a config that fits nothing stay", "[expanders]") {
  for (const auto& [pass, call] :
       {std::pair("legalize-softmax",
                  "f32[3,40] custom-call(x), custom_call_target=\"AwsNeuronSoftmax\", backend_config=\"7\""),
        std::pair("legalize-softmax",
                  "f32[3,40] custom-call(x), custom_call_target=\"AwsNeuronSoftmax\", backend_config=\"a\""),
        std::pair("lower-argminmax-custom-call",
                  "(f32[3], s32[3]) custom-call(x), custom_call_target=\"AwsNeuronArgMax\", "
                  "backend_config=\"2\"")}) {
    const std::unique_ptr<hlo::Module> module = parse(module_of("f32", call));
    PassContext context;
    REQUIRE(find_pass(pass)->run(*module, context).is_ok());
    CHECK(count(*module, Opcode::CustomCall) == 1);
    CHECK(context.changes == 0);
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
