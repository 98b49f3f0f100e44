#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

std::string unary_module(const std::string& op, const std::string& type) {
  return "HloModule m\nENTRY main {\n  x = " + type + "[3,64] parameter(0)\n  ROOT y = " + type + "[3,64] " +
         op + "(x)\n}\n";
}

TEST_CASE("expanded functions agree on ordinary and special values of every float type", "[expanders]") {
  struct Row {
    const char *pass, *op;
    Opcode opcode;
  };
  const Row rows[] = {
      {"expm1-expander", "exponential-minus-one", Opcode::Expm1},
      {"log1p-expander", "log-plus-one", Opcode::Log1p},
      {"logistic-expander", "logistic", Opcode::Logistic},
      {"cbrt-expander", "cbrt", Opcode::Cbrt},
      {"trigonometric-expander", "tan", Opcode::Tan},
      {"trigonometric-expander", "asin", Opcode::Asin},
      {"trigonometric-expander", "acos", Opcode::Acos},
      {"trigonometric-expander", "atan", Opcode::Atan},
      {"trigonometric-expander", "sinh", Opcode::Sinh},
      {"trigonometric-expander", "cosh", Opcode::Cosh},
      {"trigonometric-expander", "asinh", Opcode::Asinh},
      {"trigonometric-expander", "acosh", Opcode::Acosh},
      {"trigonometric-expander", "atanh", Opcode::Atanh},
  };
  for (const Row& row : rows) {
    for (const char* type : {"f32", "f64", "bf16", "f16"}) {
      INFO(row.op << " " << type);
      const auto module = after(row.pass, unary_module(row.op, type));
      CHECK(count(*module, row.opcode) == 0);
    }
  }
}

TEST_CASE("an expansion leaves arrays without elements and complex values alone", "[expanders]") {
  const auto empty = after("expm1-expander",
                           "HloModule m\nENTRY main {\n  x = f32[0,2] parameter(0)\n"
                           "  ROOT y = f32[0,2] exponential-minus-one(x)\n}\n");
  CHECK(count(*empty, Opcode::Expm1) == 0);
  const auto complex = after("log1p-expander", unary_module("log-plus-one", "c64"));
  CHECK(count(*complex, Opcode::Log1p) == 1);
}

TEST_CASE("total order is an order of integers for every width", "[expanders]") {
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e5m2"}) {
    for (const char* direction : {"LT", "GE", "EQ"}) {
      const std::string of_type = std::string(type) + "[300]";
      const auto module =
          after("comparison-expander",
                "HloModule m\nENTRY main {\n  a = " + of_type + " parameter(0)\n  b = " + of_type +
                    " parameter(1)\n  ROOT c = pred[300] compare(a, b), direction=" + direction +
                    ", type=TOTALORDER\n}\n");
      INFO(type);
      CHECK(root(*module).compare_type == hlo::CompareType::Default);
      CHECK(is_signed_int(root(*module).operand_shape(0).dtype));
    }
  }
}

TEST_CASE("CHLO ops become HLO ops with the same bits", "[expanders]") {
  for (const char* op : {"chlo.square", "chlo.conj"}) {
    for (const char* type : {"f32", "bf16", "c64"}) {
      const std::string of_type = std::string(type) + "[200]";
      INFO(op << " " << type);
      const auto module =
          after("chlo-legalize-to-hlo", "HloModule m\nENTRY main {\n  a = " + of_type +
                                            " parameter(0)\n  ROOT y = " + of_type +
                                            " custom-call(a), custom_call_target=\"" + op + "\"\n}\n");
      CHECK(count(*module, Opcode::Square) + count(*module, Opcode::Conj) == 0);
    }
  }
  for (const char* op : {"chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf"}) {
    const auto module =
        after("chlo-legalize-to-hlo",
              std::string("HloModule m\nENTRY main {\n  a = f32[200] parameter(0)\n  ROOT y = "
                          "pred[200] custom-call(a), custom_call_target=\"") +
                  op + "\"\n}\n");
    CHECK(root(*module).is(Opcode::Compare));
  }
  for (const char* type : {"f32", "bf16", "f64", "f16"}) {
    const std::string of_type = std::string(type) + "[300]";
    const auto module = after("chlo-legalize-to-hlo",
                              "HloModule m\nENTRY main {\n  a = " + of_type +
                                  " parameter(0)\n  b = " + of_type + " parameter(1)\n  ROOT y = " + of_type +
                                  " custom-call(a, b), custom_call_target=\"chlo.next_after\"\n}\n");
    CHECK(count(*module, Opcode::NextAfter) == 0);
  }
}

TEST_CASE("topk is a sort that keeps NaN, the sign of zero and the order of ties", "[expanders]") {
  for (const char* type : {"f32", "bf16", "s32", "u8"}) {
    for (const char* largest : {"true", "false"}) {
      const std::string t = type;
      INFO(t << " " << largest);
      const auto module = after(
          "topk-decomposer", "HloModule m\nENTRY main {\n  x = " + t + "[4,40] parameter(0)\n  ROOT r = (" +
                                 t + "[4,7], s32[4,7]) topk(x), k=7, largest=" + largest + "\n}\n");
      CHECK(count(*module, Opcode::TopK) == 0);
      CHECK(count(*module, Opcode::Sort) == 1);
    }
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
