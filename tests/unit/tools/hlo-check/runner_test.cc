#include "tools/hlo-check/runner.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace ncc;
using namespace ncc::check;

namespace {

namespace fs = std::filesystem;

// A folder of test modules that is removed at the end.
struct Cases {
  fs::path dir;
  std::vector<std::string> paths;
  Cases() {
    std::string name = (fs::temp_directory_path() / "hlo-check-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    dir = name;
  }
  ~Cases() { fs::remove_all(dir); }
  void add(const std::string& name, const std::string& text) {
    std::ofstream(dir / name) << text;
    paths.push_back((dir / name).string());
  }
};

std::string doubling(int expected) {
  return "func.func @main() {\n %0 = stablehlo.constant dense<2> : tensor<i32>\n"
         " %1 = stablehlo.add %0, %0 : tensor<i32>\n check.expect_eq_const %1, dense<" +
         std::to_string(expected) + "> : tensor<i32>\n func.return\n}\n";
}

constexpr const char* kEndless = R"(func.func @main() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.while(%a = %0) : tensor<i1> cond { stablehlo.return %a : tensor<i1> } do { stablehlo.return %a : tensor<i1> }
  check.expect_eq_const %1, dense<true> : tensor<i1>
  func.return
})";

}  // namespace

TEST_CASE("outcomes are reported in the order of the cases, whatever happens in each", "[hlo-check]") {
  Cases cases;
  cases.add("pass.mlir", doubling(4));
  cases.add("mismatch.mlir", doubling(5));
  cases.add("endless.mlir", kEndless);
  cases.add("broken.mlir", "func.func @main( {");
  cases.add("empty.mlir", "func.func @main() { func.return }");
  Settings settings;
  settings.jobs = 3;
  settings.timeout_s = 1;
  std::vector<std::string> verdicts;
  const Totals totals =
      run_cases(cases.paths, settings, [&](const std::string& path, const Outcome& outcome) {
        verdicts.push_back(fs::path(path).stem().string() + " " + std::string(name(outcome.verdict)));
      });
  CHECK(verdicts == std::vector<std::string>{"pass pass", "mismatch mismatch", "endless timeout",
                                             "broken error", "empty pass"});
  CHECK(totals.passed == 2);
  CHECK(totals.failed == 3);
  CHECK(totals.skipped == 0);
}

TEST_CASE("a folder stands for the cases in it, and process grids are skipped below golden", "[hlo-check]") {
  Cases cases;
  cases.add("b.mlir", doubling(4));
  cases.add("a.mlir", R"(module {
    func.func @id() -> tensor<ui32> {
      %0 = stablehlo.replica_id : tensor<ui32>
      return %0 : tensor<ui32>
    }
    func.func @main() {
      %r:2 = "interpreter.run_parallel"() {programs = [[@id], [@id]]} : () -> (tensor<ui32>, tensor<ui32>)
      check.expect_eq_const %r#1, dense<1> : tensor<ui32>
      func.return
    } })");
  cases.add("notes.txt", "no case");
  const std::vector<std::string> paths = expand_cases({cases.dir.string()});
  REQUIRE(paths ==
          std::vector<std::string>{(cases.dir / "a.mlir").string(), (cases.dir / "b.mlir").string()});
  Settings settings;
  CHECK(run_case(paths[0], settings, (cases.dir / "work").string()).verdict == Verdict::Pass);
  settings.level = Level::Sim;
  const Outcome outcome = run_case(paths[0], settings, (cases.dir / "work").string());
  CHECK(outcome.verdict == Verdict::Skipped);
  CHECK(outcome.diagnostic == "process grids and probes run at level golden only");
}
