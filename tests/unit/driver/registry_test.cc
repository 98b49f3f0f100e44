#include "driver/registry.h"

#include <catch2/catch.hpp>

namespace ncc::driver {
namespace {

Result<Registry> with(const std::string& text) {
  std::vector<pipelines::File> files = pipelines::built_in_files();
  files.push_back({"mine.yaml", text});
  return load_registry(files);
}

TEST_CASE("the built-in files load", "[driver]") {
  const Result<Registry> registry = load_registry(pipelines::built_in_files());
  REQUIRE(registry.is_ok());
  CHECK(registry.value().entries.front().job == "HLOToTensorizer");
}

TEST_CASE("a user's file replaces what it names and nothing else", "[driver]") {
  const Result<Registry> registry =
      with("jobs: {Kelper: {tool: my-packager}}\ncollectors: {backend: [Kelper]}\n");
  REQUIRE(registry.is_ok());
  CHECK(registry.value().jobs.at("Kelper").tool == "my-packager");
  CHECK(registry.value().jobs.at("Frontend").tool == "hlo-opt");
  CHECK(registry.value().entries.back().job == "Kelper");
}

TEST_CASE("malformed pipeline files are refused with the reason", "[driver]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"jobs: {X: {argv: []}}", "job X has no tool"},
      {"jobs: {X: {tool: t, argw: []}}", "unknown key 'argw'"},
      {"collectors: {front: [Nobody]}", "unknown job 'Nobody'"},
      {"collectors: {rear: []}", "unknown key 'rear'"},
      {"collectors: {front: [{job: Frontend, when: [full_moon]}]}", "unknown condition 'full_moon'"},
      {"jobs: {X: {tool: t, argv: [{if: has_io_transposes, args: [a]}]}}", "not known while planning"},
      {"- a list", "not a map"},
      {"jobs: [unclosed", "mine.yaml"},
      {"jobs: 7", "mine.yaml"},
      {"", "not a map"},
  };
  for (const auto& [text, reason] : cases) {
    INFO(text);
    const Result<Registry> registry = with(text);
    REQUIRE_FALSE(registry.is_ok());
    CHECK(registry.status().diagnostic().cause.find(reason) != std::string::npos);
    CHECK(registry.status().diagnostic().exit_status() == 1);
  }
}

TEST_CASE("what is wrong in a pipeline file is told with its line", "[driver]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"jobs:\n  X:\n    tool: t\n    argw: []\n", "mine.yaml:4"},
      {"jobs:\n  X:\n    tool: t\n    reads: 3\n", "mine.yaml:4': reads is not a list"},
      {"jobs:\n  X:\n    tool: [t]\n", "mine.yaml:3': tool is not a text"},
      {"jobs:\n  X:\n    tool: t\n    timeout: soon\n", "mine.yaml:4': timeout is not a number"},
      {"jobs:\n  X:\n    tool: t\n    stderr: shout\n", "mine.yaml:4': unknown stderr 'shout'"},
      {"jobs:\n  X:\n    tool: t\n    propagate_exit: maybe\n", "mine.yaml:4': propagate_exit"},
      {"jobs:\n  X:\n    kind: in_process\n", "has no action"},
      {"jobs:\n  X:\n    tool: t\n    argv:\n      - a\n      - {if: model_is_hlo}\n",
       "mine.yaml:6': argv of job X"},
      {"collectors:\n  front:\n    - Frontend\n    - Fronted\n",
       "mine.yaml:4': unknown job 'Fronted', did you mean 'Frontend'"},
      {"collectors:\n  front:\n    - {job: Frontend, when: [verify_stag]}\n", "did you mean 'verify_stage'"},
      {"passes:\n  Frontend:\n    O7: []\n", "mine.yaml:3"},
      {"passes:\n  Frontend:\n    O2: {}\n", "mine.yaml:3"},
      {"passes:\n  Frontend:\n    O2: {like: O1, with: [a]}\n", "mine.yaml:3"},
      {"passes:\n  Frontend:\n    O2: {like: O1, without: a}\n", "mine.yaml:3"},
      {"jobs: {\n\n", "mine.yaml:"},
  };
  for (const auto& [text, reason] : cases) {
    INFO(text);
    const Result<Registry> registry = with(text);
    REQUIRE_FALSE(registry.is_ok());
    INFO(registry.status().diagnostic().cause);
    CHECK(registry.status().diagnostic().cause.find(reason) != std::string::npos);
  }
}

TEST_CASE("a level of a pass list may name another one", "[driver]") {
  const pipelines::File file{"p.yaml", "passes: {J: {O1: [a, b], O2: O1, O3: O2}, K: {O1: O2, O2: O1}}"};
  CHECK(pipelines::pass_list(file, "J", "3").value().run == std::vector<std::string>{"a", "b"});
  CHECK(pipelines::pass_list(file, "J", "0").value().empty());
  CHECK(pipelines::pass_list(file, "other", "1").value().empty());
  CHECK_FALSE(pipelines::pass_list(file, "K", "1").is_ok());
}

TEST_CASE("a level may be another one without some passes", "[driver]") {
  const pipelines::File file{"p.yaml",
                             "passes:\n"
                             "  J: {O0: {like: O1, without: [b]}, O1: {like: O2, without: [c]}, O2: [a, b, "
                             "c], O3: {like: O2, without: [d]}}\n"
                             "  K: {O0: {like: O1, without: [y]}, O1: {like: O2, without: [x]}, O2: [], O3: "
                             "{like: O3, without: []}}\n"};
  CHECK(pipelines::pass_list(file, "J", "0").value().run == std::vector<std::string>{"a"});
  CHECK(pipelines::pass_list(file, "J", "0").value().skip.empty());
  const Status missing = pipelines::pass_list(file, "J", "3").status();
  REQUIRE_FALSE(missing.is_ok());
  CHECK(missing.diagnostic().cause.find("passes.J.O3 leaves out 'd'") != std::string::npos);
  // Without a list of its own, the tool is told what to leave out.
  CHECK(pipelines::pass_list(file, "K", "0").value().run.empty());
  CHECK(pipelines::pass_list(file, "K", "0").value().skip == std::vector<std::string>{"x", "y"});
  CHECK(pipelines::pass_list(file, "K", "2").value().empty());
  CHECK_FALSE(pipelines::pass_list(file, "K", "3").is_ok());
}

}  // namespace
}  // namespace ncc::driver
