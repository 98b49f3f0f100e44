// Constraints of collectives, host transfers, random numbers and ops with shape operands. Each case breaks
// one.
#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::hlo {
namespace {

// The diagnostic for one instruction over a: f32[4,6], k: s32[4], s: f32[], i: s32[], t: token[], key:
// u64[2].
std::string verdict(const std::string& instruction) {
  const std::string text =
      "HloModule v\nplus { l = f32[] parameter(0) r = f32[] parameter(1) ROOT o = add(l, r) }\n"
      "one { l = f32[] parameter(0) ROOT o = negate(l) }\nENTRY e {\n"
      "  a = f32[4,6] parameter(0)\n  k = s32[4] parameter(1)\n  s = f32[] parameter(2)\n  i = s32[] "
      "parameter(3)\n"
      "  t = token[] after-all()\n  key = u64[2] parameter(4)\n  ROOT v = " +
      instruction + "\n}\n";
  const auto module = read_hlo_text(text, "v.hlo");
  if (!module.is_ok()) return module.status().diagnostic().to_string();
  const Status status = verify(*module.value());
  return status.is_ok() ? "ok" : status.diagnostic().to_string();
}

struct Case {
  std::string_view instruction, label;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    INFO(c.instruction);
    const std::string found = verdict(std::string(c.instruction));
    if (c.label == "ok") {
      CHECK(found == "ok");
    } else {
      CHECK_THAT(found, Catch::Contains(fmt::format("({})", c.label)));
    }
  }
}

TEST_CASE("collectives name the constraint that is broken", "[hlo][verify]") {
  check({
      {"f32[8,6] all-gather(a), replica_groups={{0,1}}, dimensions={0}", "ok"},
      {"f32[8,6] all-gather(a), replica_groups={{0,1}}, dimensions={2}", "all_gather_c1"},
      {"f32[8,6] all-gather(a), replica_groups={{0,0}}, dimensions={0}", "all_gather_c2"},
      {"f32[8,6] all-gather(a), replica_groups={{0,1},{2}}, dimensions={0}", "all_gather_c3"},
      {"f32[8,6] all-gather(a), replica_groups={{0,-1}}, dimensions={0}", "all_gather_c4"},
      {"f32[8,6] all-gather(a), replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true",
       "all_gather_c5"},
      {"f32[4,6] all-reduce(a), replica_groups={{0,1},{2}}, to_apply=plus", "ok"},
      {"f32[4,6] all-reduce(a), replica_groups={{0,1},{1}}, to_apply=plus", "all_reduce_c1"},
      {"f32[4,6] all-reduce(a), replica_groups={{0,1}}, to_apply=one", "all_reduce_c5"},
      {"f32[2,6] reduce-scatter(a), replica_groups={{0,1}}, dimensions={0}, to_apply=plus", "ok"},
      {"f32[2,6] reduce-scatter(a), replica_groups={{0,1,2}}, dimensions={0}, to_apply=plus",
       "reduce_scatter_c1"},
      {"f32[2,6] reduce-scatter(a), replica_groups={{0,1}}, dimensions={5}, to_apply=plus",
       "reduce_scatter_c2"},
      {"f32[2,6] reduce-scatter(a), replica_groups={{0,1}}, dimensions={0}, to_apply=one",
       "reduce_scatter_c7"},
      {"f32[4,6] all-to-all(a), replica_groups={{0,1}}, dimensions={0}", "ok"},
      {"f32[4,6] all-to-all(a), replica_groups={{0,0}}, dimensions={0}", "all_to_all_c5"},
      {"f32[4,6] all-to-all(a), replica_groups={{0,1}}, dimensions={7}", "all_to_all_c1"},
      {"f32[4,6] all-to-all(a), "
       "frontend_attributes={raw.split_dimension=\"0\",raw.concat_dimension=\"1\",raw.split_"
       "count=\"3\"}",
       "all_to_all_c2"},
      {"f32[4,6] all-to-all(a), "
       "frontend_attributes={raw.split_dimension=\"0\",raw.concat_dimension=\"4\",raw.split_"
       "count=\"2\"}",
       "all_to_all_c3"},
      {"f32[4,6] all-to-all(a), "
       "frontend_attributes={raw.split_dimension=\"0\",raw.concat_dimension=\"1\",raw.split_"
       "count=\"0\"}",
       "all_to_all_c4"},
      {"f32[4,6] collective-permute(a), source_target_pairs={{0,1},{0,2}}", "collective_permute_c2"},
      {"f32[4,6] collective-permute(a), source_target_pairs={{0,1},{2,1}}", "collective_permute_c3"},
      {"f32[4,6] collective-permute(a), source_target_pairs={{-1,1}}", "collective_permute_c4"},
      {"f32[4,6] collective-broadcast(a), replica_groups={{0,0}}", "collective_broadcast_c1"},
      {"f32[4,6] collective-broadcast(a), replica_groups={{-3}}", "collective_broadcast_c2"},
  });
}

TEST_CASE("a collective's result shape is derived from the group size", "[hlo][verify]") {
  CHECK_THAT(verdict("f32[4,6] all-gather(a), replica_groups={{0,1}}, dimensions={0}"),
             Catch::Contains("found f32[4,6], expected f32[8,6]"));
  CHECK_THAT(verdict("f32[4,6] all-gather(a), replica_groups={}, dimensions={0}"), Catch::Equals("ok"));
  CHECK_THAT(verdict("f32[6,4] collective-permute(a), source_target_pairs={{0,1}}"),
             Catch::Contains("expected f32[4,6]"));
}

TEST_CASE("host transfers need tokens in their places", "[hlo][verify]") {
  check({
      {"(f32[4,6], u32[], token[]) send(a, t), channel_id=1", "ok"},
      {"(f32[4,6], u32[], token[]) send(a, s), channel_id=1", "send_i2"},
      {"(f32[4,6], token[]) infeed(s)", "infeed_c3"},
      {"(f32[4,6], f32[]) infeed(t)", "infeed_c3"},
      {"token[] outfeed(a, s), outfeed_shape=f32[4,6]", "outfeed_i2"},
      {"(f32[4,6], f32[]) recv(t), channel_id=1", "recv_c4"},
      {"f32[4,6] add-dependency(a, s)", "add_dependency"},
      {"token[] send-done(a), channel_id=1", "start"},
      {"f32[4,6] copy-done(a)", "start"},
  });
}

TEST_CASE("random numbers have scalar bounds of one type and states of the algorithm's size",
          "[hlo][verify]") {
  check({
      {"f32[9] rng(s, s), distribution=rng_uniform", "ok"},
      {"f32[9] rng(s, a), distribution=rng_uniform", "rng_i2"},
      {"f32[9] rng(s, i), distribution=rng_uniform", "rng_c1"},
      {"s32[9] rng(i, i), distribution=rng_normal", "rng_c2"},
      {"(u64[2], u32[10]) rng-bit-generator(key), algorithm=rng_three_fry", "ok"},
      {"(s32[4], u32[10]) rng-bit-generator(k), algorithm=rng_three_fry", "ok"},
      {"(s32[], u32[10]) rng-bit-generator(i), algorithm=rng_philox", "rng_bit_generator_c2"},
      {"(u64[2], u32[10], u32[]) rng-bit-generator(key), algorithm=rng_default", "rng_bit_generator_c1"},
  });
}

std::string mlir_verdict(std::string_view op) {
  const std::string text = fmt::format(
      "func.func @main(%x: tensor<?x3xf32>, %n: tensor<2xi32>, %m: tensor<3xi32>, %s: tensor<f32>, %v: "
      "tensor<i32>) "
      "{{\n  {}\n  return\n}}",
      op);
  const auto module = read_stablehlo(text, "v.mlir");
  if (!module.is_ok()) return module.status().diagnostic().to_string();
  const Status status = verify(*module.value());
  return status.is_ok() ? "ok" : status.diagnostic().to_string();
}

TEST_CASE("ops with a shape operand check its length, ranks and element types", "[hlo][verify]") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"%r = stablehlo.dynamic_broadcast_in_dim %x, %m, dims = [1, 2] : (tensor<?x3xf32>, tensor<3xi32>) -> "
       "tensor<?x?x3xf32>",
       "ok"},
      {"%r = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1, 2] : (tensor<?x3xf32>, tensor<2xi32>) -> "
       "tensor<?x?x3xf32>",
       "dynamic_broadcast_in_dim_c7"},
      {"%r = stablehlo.dynamic_broadcast_in_dim %x, %m, dims = [1, 1] : (tensor<?x3xf32>, tensor<3xi32>) -> "
       "tensor<?x?x3xf32>",
       "dynamic_broadcast_in_dim_c4"},
      {"%r = stablehlo.dynamic_iota %m, dim = 3 : (tensor<3xi32>) -> tensor<?x?x3xf32>", "dynamic_iota_c1"},
      {"%r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi32>) -> tensor<?x?x3xf32>", "dynamic_iota_c2"},
      {"%r = stablehlo.dynamic_reshape %x, %m : (tensor<?x3xf32>, tensor<3xi32>) -> tensor<?x3xf32>",
       "dynamic_reshape_c3"},
      {"%r = stablehlo.dynamic_pad %x, %s, %n, %n, %m : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, "
       "tensor<2xi32>, "
       "tensor<3xi32>) -> tensor<?x?xf32>",
       "dynamic_pad_c2"},
      {"%r = stablehlo.real_dynamic_slice %x, %n, %n, %m : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, "
       "tensor<3xi32>) -> tensor<?x?xf32>",
       "real_dynamic_slice_c2"},
  };
  for (const auto& [op, label] : cases) {
    INFO(op);
    CHECK_THAT(mlir_verdict(op),
               label == "ok" ? Catch::Contains("ok") : Catch::Contains(fmt::format("({})", label)));
  }
}

}  // namespace
}  // namespace ncc::hlo
