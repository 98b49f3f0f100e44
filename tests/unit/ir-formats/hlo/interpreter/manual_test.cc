// Manual computations: programs that JAX's shard_map writes for several devices, on whole values from
// outside.
#include "tests/unit/ir-formats/hlo/interpreter/run_text.h"

using namespace ncc;
using namespace ncc::hlo;
using Values = std::vector<double>;

namespace {

Literal counted(std::vector<int64_t> dims) {
  std::vector<float> values(static_cast<size_t>(Shape::array(Dtype::F32, dims).num_elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return literal_of(Dtype::F32, std::move(dims), values);
}

// `body` makes r from the device's part p; `part` and `whole` are the types of p and of the result.
std::string partitioned(const std::string& in, const std::string& part, const std::string& body,
                        const std::string& result, const std::string& out, const std::string& whole) {
  return "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
         "work { p = " +
         part + " parameter(0)\n" + body +
         "\n}\nENTRY main {\n  x = f32[4,2] parameter(0)\n  s = f32[4,2] custom-call(x), " +
         "custom_call_target=\"Sharding\", sharding=" + in + "\n  p = " + part +
         " custom-call(s), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n  r = " + result +
         " call(p), to_apply=work\n  ROOT w = " + whole +
         " custom-call(r), custom_call_target=\"SPMDShardToFullShape\", sharding=" + out + "\n}\n";
}

}  // namespace

TEST_CASE("every device sums the parts of all", "[interpreter]") {
  const std::string text = partitioned("{devices=[4,1]<=[4]}", "f32[1,2]",
                                       "ROOT r = f32[1,2] all-reduce(p), channel_id=1, "
                                       "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add",
                                       "f32[1,2]", "{replicated}", "f32[1,2]");
  CHECK(values_of(run_text(text, {counted({4, 2})})) == Values{12, 16});
}

TEST_CASE("a device knows its number, and the whole is put together in the order of the sharding",
          "[interpreter]") {
  const std::string body =
      "i = u32[] partition-id()\n f = f32[] convert(i)\n b = f32[2,1] broadcast(f), dimensions={}\n"
      "h = f32[] constant(100)\n hb = f32[2,1] broadcast(h), dimensions={}\n t = f32[2,1] multiply(b, hb)\n"
      "ROOT r = f32[2,1] add(p, t)";
  CHECK(values_of(run_text(partitioned("{devices=[2,2]<=[4]}", "f32[2,1]", body, "f32[2,1]",
                                       "{devices=[2,2]<=[4]}", "f32[4,2]"),
                           {counted({4, 2})})) == Values{0, 101, 2, 103, 204, 305, 206, 307});
  CHECK(values_of(run_text(partitioned("{devices=[2,2]<=[4]}", "f32[2,1]", body, "f32[2,1]",
                                       "{devices=[2,2]<=[2,2]T(1,0)}", "f32[4,2]"),
                           {counted({4, 2})})) == Values{0, 204, 2, 206, 101, 305, 103, 307});
}

TEST_CASE("of copies the first device's counts", "[interpreter]") {
  const std::string text =
      partitioned("{devices=[4,1]<=[4]}", "f32[1,2]", "ROOT r = f32[1,2] negate(p)", "f32[1,2]",
                  "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "f32[2,2]");
  CHECK(values_of(run_text(text, {counted({4, 2})})) == Values{-0.0, -1, -4, -5});
}

TEST_CASE("Shardy's manual computation works on parts of several values", "[interpreter]") {
  const Literal both = run_text(R"(module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x2xf32>, %b: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>) {
    %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"x"}]>] manual_axes={"x", "y"} (%p: tensor<2x1xf32>, %q: tensor<1xf32>) {
      %1 = "stablehlo.all_reduce"(%q) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %s = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<1xf32>) -> tensor<2x1xf32>
      %3 = stablehlo.add %p, %2 : tensor<2x1xf32>
      %4 = stablehlo.negate %q : tensor<1xf32>
      sdy.return %3, %4 : tensor<2x1xf32>, tensor<1xf32>
    } : (tensor<4x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>)
    return %0#0, %0#1 : tensor<4x2xf32>, tensor<2xf32>
  }
})",
                                {counted({4, 2}), literal_of<float>(Dtype::F32, {2}, {10, 20})});
  CHECK(values_of(both.elements()[0]) == Values{30, 31, 32, 33, 34, 35, 36, 37});
  CHECK(values_of(both.elements()[1]) == Values{-10, -20});
}

TEST_CASE("Shardy's generic form means the same, on one device the whole", "[interpreter]") {
  const auto negated = [](const std::string& devices, const std::string& part) {
    return values_of(run_text("module {\n  \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=" + devices +
                                  "]>, sym_name = \"mesh\"}> : () -> ()\n" +
                                  R"(  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
    ^bb0(%p: )" + part + R"():
      %1 = stablehlo.negate %p : )" +
                                  part + R"(
      sdy.return %1 : )" + part +
                                  R"(
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
})",
                              {counted({2})}));
  };
  CHECK(negated("1", "tensor<2xf32>") == Values{-0.0, -1});
  CHECK(negated("2", "tensor<1xf32>") == Values{-0.0, -1});
}

TEST_CASE("a sharding that does not divide a value as stated is named", "[interpreter]") {
  const auto result =
      try_run(partitioned("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "f32[1,2]",
                          "ROOT r = f32[1,2] negate(p)", "f32[1,2]", "{devices=[4,1]<=[4]}", "f32[4,2]"),
              {counted({4, 2})});
  REQUIRE_FALSE(result.is_ok());
  CHECK(result.status().diagnostic().to_string().find("the sharding of operand 0 does not divide it") !=
        std::string::npos);
}
