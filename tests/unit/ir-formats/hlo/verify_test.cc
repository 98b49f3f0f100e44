// The verifier: each case states a shape or attribute that is wrong and the constraint that says so.
#include "ir-formats/hlo/verify.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

namespace ncc::hlo {
namespace {

// The diagnostic for one instruction over parameters a: f32[2,3], b: f32[3,4], i: s32[], and s: f32[].
std::string verdict(const std::string& instruction) {
  const std::string text =
      "HloModule v\nplus { l = f32[] parameter(0) r = f32[] parameter(1) ROOT o = add(l, r) }\nENTRY e {\n"
      "  a = f32[2,3] parameter(0)\n  b = f32[3,4] parameter(1)\n  i = s32[] parameter(2)\n  s = f32[] "
      "parameter(3)\n"
      "  ROOT v = " +
      instruction + "\n}\n";
  const auto module = read_hlo_text(text, "v.hlo");
  if (!module.is_ok()) return module.status().diagnostic().to_string();
  const Status status = verify(*module.value());
  return status.is_ok() ? "ok" : status.diagnostic().to_string();
}

TEST_CASE("a stated shape that disagrees with the derived one is named with both", "[hlo][verify]") {
  CHECK_THAT(
      verdict("f32[3,2] negate(a)"),
      Catch::Contains("[NCC_EVRF004] %v = negate: shape of the result: found f32[3,2], expected f32[2,3]"));
  CHECK_THAT(verdict("f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
             Catch::Equals("ok"));
  CHECK_THAT(verdict("f32[4,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
             Catch::Contains("expected f32[2,4]"));
}

TEST_CASE("violated constraints are named by their label", "[hlo][verify]") {
  CHECK_THAT(verdict("f32[2,3] add(a, b)"), Catch::Contains("add_c1"));
  CHECK_THAT(verdict("f32[2,4] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
             Catch::Contains("dot_general_c10"));
  CHECK_THAT(verdict("f32[2,3,4] broadcast(a), dimensions={0,2}"), Catch::Contains("broadcast_in_dim_c5"));
  CHECK_THAT(verdict("f32[3,2] transpose(a), dimensions={0,0}"), Catch::Contains("transpose_c2"));
  CHECK_THAT(verdict("f32[7] reshape(a)"), Catch::Contains("reshape_c2"));
  CHECK_THAT(verdict("f32[2,2] slice(a), slice={[0:2], [1:4]}"), Catch::Contains("slice_c3"));
  CHECK_THAT(verdict("f32[2,1] slice(a), slice={[0:2], [0:1:0]}"), Catch::Contains("slice_c4"));
  CHECK_THAT(verdict("f32[4,4] pad(a, i), padding=1_1x0_1"), Catch::Contains("pad_c1"));
  CHECK_THAT(verdict("f32[5,3] concatenate(a, b), dimensions={0}"), Catch::Contains("concatenate_c2"));
  CHECK_THAT(verdict("f32[2] reduce(a, s), dimensions={2}, to_apply=plus"), Catch::Contains("reduce_c4"));
  CHECK_THAT(verdict("f32[2] reduce(a, a), dimensions={1}, to_apply=plus"), Catch::Contains("reduce_c2"));
  CHECK_THAT(verdict("f32[2,3] select(a, a, a)"), Catch::Contains("select_c1"));
  CHECK_THAT(verdict("f32[2,3] clamp(b, a, s)"), Catch::Contains("clamp_c1"));
  CHECK_THAT(verdict("f32[2,2] dynamic-slice(a, i), dynamic_slice_sizes={2,2}"),
             Catch::Contains("dynamic_slice_c2"));
  CHECK_THAT(verdict("f32[2,3] reverse(a), dimensions={3}"), Catch::Contains("reverse_c2"));
  CHECK_THAT(verdict("s32[2,3] popcnt(a)"), Catch::Contains("element type"));
  CHECK_THAT(verdict("s32[4] iota(), iota_dimension=1"), Catch::Contains("iota_c1"));
}

TEST_CASE("windows, paddings and strides give the sizes of the specification", "[hlo][verify]") {
  CHECK_THAT(verdict("f32[3,6] pad(a, s), padding=-1_2x0_1_1"), Catch::Equals("ok"));
  CHECK_THAT(verdict("f32[1,2] slice(a), slice={[0:2:2], [0:3:2]}"), Catch::Equals("ok"));
  CHECK_THAT(verdict("f32[2,2] reduce-window(a, s), window={size=1x2 stride=1x2 pad=0_0x1_0}, to_apply=plus"),
             Catch::Equals("ok"));
  CHECK_THAT(verdict("f32[2,0] reduce-window(a, s), window={size=1x9}, to_apply=plus"), Catch::Equals("ok"));
}

}  // namespace
}  // namespace ncc::hlo
