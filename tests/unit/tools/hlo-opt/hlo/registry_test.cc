#include <set>

#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

TEST_CASE("pass names are unique and none is listed as missing", "[hlo-passes]") {
  std::set<std::string_view> names;
  for (const PassInfo& pass : all_passes()) {
    CHECK(names.insert(pass.name).second);
    INFO(pass.name);
    CHECK(find_known_name(pass.name) == nullptr);
    CHECK_FALSE(pass.summary.empty());
  }
}

TEST_CASE("names are found in either spelling of their separators", "[hlo-passes]") {
  CHECK(find_pass("tuple_simplifier") == find_pass("tuple-simplifier"));
  CHECK(find_pass("tuple-simplifier") != nullptr);
}

TEST_CASE("an unknown name is an error, a known one says that it is not implemented", "[hlo-passes]") {
  CHECK(require_pass("no-such-pass").status().diagnostic().code == Code::EARG001);
  CHECK(require_pass("metadata-naming").status().diagnostic().code == Code::EARG003);
  CHECK(require_pass("dce").is_ok());
}

TEST_CASE("the alias of a function's only result names the root itself", "[hlo-passes]") {
  Result<std::unique_ptr<hlo::Module>> module = hlo::read_stablehlo(
      "func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {\n"
      "  %y = stablehlo.negate %x : tensor<2xf32>\n  return %y : tensor<2xf32>\n}",
      "test.mlir");
  REQUIRE(module.is_ok());
  PassContext context;
  CHECK(find_pass("verify-aliasing")->run(*module.value(), context).is_ok());
}

}  // namespace
}  // namespace ncc::hlo_passes
