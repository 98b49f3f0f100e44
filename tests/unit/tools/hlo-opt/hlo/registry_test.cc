#include <algorithm>
#include <map>
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

struct LevelName {
  const char *level, *name;
};
constexpr LevelName kAllLevels[] = {
#define HLO_PASS(name, function, stage, rounding, summary) {"HLO", name},
#include "tools/hlo-opt/hlo/passes.def"
#define PASS(name, function, summary) {"Penguin", #name},
#include "tools/hlo-opt/passes.def"
#define PASS(name, constructor, summary) {"BIR", #name},
#include "tools/walrus_driver/passes.def"
};

TEST_CASE("a pass name stands for one pass over all levels", "[hlo-passes]") {
  std::map<std::string, std::string> levels;
  std::set<std::string> shared;
  for (const LevelName& row : kAllLevels) {
    std::string name = row.name;
    std::replace(name.begin(), name.end(), '-', '_');
    INFO(row.level << " " << name);
    const auto [found, is_new] = levels.emplace(name, row.level);
    if (is_new) continue;
    CHECK(found->second != row.level);
    shared.insert(name);
  }
  // The specifications give the same work on Penguin and on BIR the same name; their tools are different
  // ones.
  CHECK(shared == std::set<std::string>{"dead_code_elim"});
}

TEST_CASE("a name without a pass says why", "[hlo-passes]") {
  for (const char* name : {"decompose-attention", "fuse-send-recv", "neuron_looped_einsum_replacer"}) {
    const KnownName* known = find_known_name(name);
    REQUIRE(known);
    CHECK_FALSE(known->reason.empty());
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
