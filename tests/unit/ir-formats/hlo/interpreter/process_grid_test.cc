#include "ir-formats/hlo/interpreter/process_grid.h"

#include "tests/unit/ir-formats/hlo/interpreter/run_text.h"

using namespace ncc;
using namespace ncc::hlo;
using Values = std::vector<double>;

namespace {

// `body` makes %r from %x on each of the processes; the results of the grid, one after the other.
Values run_grid(const std::string& body, const std::string& programs, int processes,
                const std::string& type = "2xi32") {
  std::string text = "module {\n func.func @f(%x: tensor<2xi32>) -> tensor<" + type + "> {\n" + body +
                     "\n return %r : tensor<" + type + ">\n }\n func.func @main() -> (";
  std::string operands, types, results, returned;
  for (int p = 0; p < processes; ++p) {
    const std::string comma = p == 0 ? "" : ", ";
    operands += comma + "%c" + std::to_string(p);
    types += comma + "tensor<2xi32>";
    results += comma + "tensor<" + type + ">";
    returned += comma + "%r#" + std::to_string(p);
  }
  text += results + ") {\n";
  for (int p = 0; p < processes; ++p)
    text += " %c" + std::to_string(p) + " = stablehlo.constant dense<[" + std::to_string(10 * p + 1) + ", " +
            std::to_string(10 * p + 2) + "]> : tensor<2xi32>\n";
  text += " %r:" + std::to_string(processes) + " = \"interpreter.run_parallel\"(" + operands +
          ") {programs = " + programs + "} : (" + types + ") -> (" + results + ")\n return " + returned +
          " : " + results + "\n } }";
  const Literal all = run_text(text);
  Values values;
  for (const Literal& one : all.elements())
    for (double value : values_of(one)) values.push_back(value);
  return values;
}

const std::string kAllReduce = R"(%r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32> }) {)";

}  // namespace

TEST_CASE("all_reduce sums over the replicas of a group", "[interpreter]") {
  CHECK(run_grid(kAllReduce +
                     "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<2xi32>) -> "
                     "tensor<2xi32>",
                 "[[@f], [@f], [@f], [@f]]", 4) == Values{12, 14, 12, 14, 52, 54, 52, 54});
}

TEST_CASE("with a channel all_reduce crosses replicas and partitions", "[interpreter]") {
  CHECK(run_grid(kAllReduce +
                     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = "
                     "#stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xi32>) -> tensor<2xi32>",
                 "[[@f, @f], [@f, @f]]", 4) == Values{64, 68, 64, 68, 64, 68, 64, 68});
}

TEST_CASE("all_gather joins in the order of the group", "[interpreter]") {
  CHECK(run_grid(R"(%r = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
          replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<4xi32>)",
                 "[[@f], [@f]]", 2, "4xi32") == Values{11, 12, 1, 2, 11, 12, 1, 2});
}

TEST_CASE("collective_permute gives zeros where nobody sends", "[interpreter]") {
  CHECK(run_grid(R"(%r = "stablehlo.collective_permute"(%x) {
          source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>)",
                 "[[@f], [@f]]", 2) == Values{0, 0, 1, 2});
}

TEST_CASE("processes that wait for each other fail instead of hanging", "[interpreter]") {
  const auto result = try_run(R"(module {
    func.func @f(%t: !stablehlo.token) -> tensor<i32> {
      %r:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>,
        is_host_transfer = true} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
      return %r#0 : tensor<i32>
    }
    func.func @main() -> (tensor<i32>, tensor<i32>) {
      %t = stablehlo.after_all : !stablehlo.token
      %r:2 = "interpreter.run_parallel"(%t, %t) {programs = [[@f], [@f]]}
        : (!stablehlo.token, !stablehlo.token) -> (tensor<i32>, tensor<i32>)
      return %r#0, %r#1 : tensor<i32>, tensor<i32>
    } })");
  REQUIRE(!result.is_ok());
  CHECK(result.status().diagnostic().code == Code::ERUN003);
}

TEST_CASE("infeed takes the values of the listed functions in order", "[interpreter]") {
  const Literal result = run_text(R"(module {
    func.func @one() -> tensor<i32> { %c = stablehlo.constant dense<1> : tensor<i32> return %c : tensor<i32> }
    func.func @two() -> tensor<i32> { %c = stablehlo.constant dense<2> : tensor<i32> return %c : tensor<i32> }
    func.func @f(%t: !stablehlo.token) -> (tensor<i32>, tensor<i32>) {
      %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
      %b:2 = "stablehlo.infeed"(%a#1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
      return %a#0, %b#0 : tensor<i32>, tensor<i32>
    }
    func.func @main() -> (tensor<i32>, tensor<i32>) {
      %t = stablehlo.after_all : !stablehlo.token
      %r:2 = "interpreter.run_parallel"(%t) {infeed = [@one, @two], programs = [[@f]]}
        : (!stablehlo.token) -> (tensor<i32>, tensor<i32>)
      return %r#0, %r#1 : tensor<i32>, tensor<i32>
    } })");
  CHECK(result.elements()[0].as_int64(0) == 1);
  CHECK(result.elements()[1].as_int64(0) == 2);
}
