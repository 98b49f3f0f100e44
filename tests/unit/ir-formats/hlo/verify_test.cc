// The verifier: each case states a shape or attribute that is wrong and the constraint that says so.
#include "ir-formats/hlo/verify.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

namespace ncc::hlo {
namespace {

// The diagnostic for one instruction over parameters a: f32[2,3], b: f32[3,4], i: s32[], s: f32[], j:
// s32[1,1], u: f32[1,3], w: s32[1,3] and u2: f32[1,2].
std::string verdict(const std::string& instruction) {
  const std::string text =
      "HloModule v\nplus { l = f32[] parameter(0) r = f32[] parameter(1) ROOT o = add(l, r) }\n"
      "one { l = f32[] parameter(0) ROOT o = negate(l) }\n"
      "positive { l = f32[] parameter(0) ROOT o = pred[] compare(l, l), direction=GT }\n"
      "larger { l = f32[] parameter(0) r = f32[] parameter(1) ROOT o = pred[] compare(l, r), direction=GE "
      "}\nENTRY "
      "e {\n"
      "  a = f32[2,3] parameter(0)\n  b = f32[3,4] parameter(1)\n  i = s32[] parameter(2)\n  s = f32[] "
      "parameter(3)\n  j = s32[1,1] parameter(4)\n  u = f32[1,3] parameter(5)\n  w = s32[1,3] parameter(6)\n "
      " u2 = "
      "f32[1,2] parameter(7)\n"
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
  CHECK_THAT(verdict("f32[2,3] reverse(a), dimensions={3}"), Catch::Contains("reverse_c3"));
  CHECK_THAT(verdict("s32[2,3] popcnt(a)"), Catch::Contains("element type"));
  CHECK_THAT(verdict("s32[4] iota(), iota_dimension=1"), Catch::Contains("iota_c1"));
}

// Many cases of one form: the instruction and the label it breaks.
void check_labels(std::initializer_list<std::pair<std::string_view, std::string_view>> cases) {
  for (const auto& [instruction, label] : cases) {
    INFO(instruction);
    CHECK_THAT(verdict(std::string(instruction)), Catch::Contains(fmt::format("({})", label)));
  }
}

TEST_CASE("elementwise constraints", "[hlo][verify]") {
  check_labels({
      {"f32[2,3] clamp(i, a, s)", "clamp_c3"},
      {"f32[2,3] clamp(s, a, b)", "clamp_c2"},
      {"pred[2,3] compare(a, b), direction=LT", "compare_c2"},
      {"pred[] compare(i, s), direction=LT", "compare_c1"},
      {"pred[] compare(i, i), direction=LT, type=TOTALORDER", "compare_c3"},
      {"pred[] compare(s, s), direction=LT, type=UNSIGNED", "compare_c3"},
      {"c64[2,3] complex(a, b)", "complex_c1"},
      {"f32[2,3] map(a, b), dimensions={0,1}, to_apply=plus", "map_c1"},
      {"f32[2,3] map(a, a), dimensions={1,0}, to_apply=plus", "map_c3"},
      {"f32[2,3] map(a), dimensions={0,1}, to_apply=plus", "map_c4"},
      {"f32[2,3] reduce-precision(a), exponent_bits=0, mantissa_bits=2", "reduce_precision_c2"},
      {"f32[2,3] reduce-precision(a), exponent_bits=3, mantissa_bits=-1", "reduce_precision_c3"},
  });
}

TEST_CASE("data movement constraints", "[hlo][verify]") {
  check_labels({
      {"f32[4,3,2] broadcast(a), dimensions={2}", "broadcast_in_dim_c2"},
      {"f32[2,3] broadcast(a), dimensions={0,5}", "broadcast_in_dim_c3"},
      {"f32[2,3] broadcast(a), dimensions={0,0}", "broadcast_in_dim_c4"},
      {"f32[2,3] reverse(a), dimensions={1,1}", "reverse_c2"},
      {"f32[4,3] concatenate(a, b), dimensions={2}", "concatenate_c4"},
      {"f32[2,3] pad(a, s), padding=0_0", "pad_c2"},
      {"f32[2,3] pad(a, s), padding=0_0_-1x0_0", "pad_c3"},
      {"f32[2,3] pad(a, s), padding=-9_0x0_0", "pad_c4"},
      {"f32[2,3] slice(a), slice={[0:2]}", "slice_c2"},
      {"f32[1,1] dynamic-slice(a, i, s), dynamic_slice_sizes={1,1}", "dynamic_slice_c3"},
      {"f32[1,1] dynamic-slice(a, i, i), dynamic_slice_sizes={1,4}", "dynamic_slice_c4"},
      {"f32[2,3] dynamic-update-slice(a, i, i, i)", "dynamic_update_slice_c2"},
      {"f32[2,3] dynamic-update-slice(a, s, i, i)", "dynamic_update_slice_c3"},
      {"f32[2,3] dynamic-update-slice(a, a, i)", "dynamic_update_slice_c4"},
      {"f32[2,3] dynamic-update-slice(a, a, i, s)", "dynamic_update_slice_c5"},
      {"f32[2,3] dynamic-update-slice(a, b, i, i)", "dynamic_update_slice_c6"},
      {"s32[] get-dimension-size(a), dimensions={2}", "get_dimension_size_c1"},
      {"f32[2,3] set-dimension-size(a, i), dimensions={4}", "set_dimension_size_c1"},
  });
}

TEST_CASE("gather constraints", "[hlo][verify]") {
  const auto gather = [](std::string_view dims, std::string_view shape = "f32[1,3]") {
    return verdict(fmt::format("{} gather(a, j), {}", shape, dims));
  };
  const std::string rest = "start_index_map={0}, index_vector_dim=1";
  const std::pair<std::string, std::string_view> cases[] = {
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,3}, " + rest, "ok"},
      {"offset_dims={}, collapsed_slice_dims={0}, slice_sizes={1,3}, " + rest, "gather_c1"},
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,3}, start_index_map={0}, "
       "index_vector_dim=3",
       "gather_c2"},
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,3}, start_index_map={0,1}, "
       "index_vector_dim=1",
       "gather_c3"},
      {"offset_dims={2,1}, collapsed_slice_dims={}, slice_sizes={1,3}, " + rest, "gather_c4"},
      {"offset_dims={7}, collapsed_slice_dims={0}, slice_sizes={1,3}, " + rest, "gather_c5"},
      {"offset_dims={1}, collapsed_slice_dims={0,0}, slice_sizes={1,3}, " + rest, "gather_c6"},
      {"offset_dims={1}, collapsed_slice_dims={1,0}, slice_sizes={1,1}, " + rest, "gather_c7"},
      {"offset_dims={1}, collapsed_slice_dims={2}, slice_sizes={1,3}, " + rest, "gather_c8"},
      {"offset_dims={1}, collapsed_slice_dims={1}, slice_sizes={1,3}, " + rest, "gather_c9"},
      {"offset_dims={1}, collapsed_slice_dims={0}, operand_batching_dims={1}, "
       "start_indices_batching_dims={}, "
       "slice_sizes={1,3}, " +
           rest,
       "gather_c16"},
      {"offset_dims={}, collapsed_slice_dims={0}, operand_batching_dims={1}, "
       "start_indices_batching_dims={1}, "
       "slice_sizes={1,1}, " +
           rest,
       "gather_c15"},
      {"offset_dims={}, collapsed_slice_dims={0}, operand_batching_dims={1}, "
       "start_indices_batching_dims={0}, "
       "slice_sizes={1,1}, " +
           rest,
       "gather_c17"},
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,3}, start_index_map={4}, "
       "index_vector_dim=1",
       "gather_c19"},
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1}, " + rest, "gather_c20"},
      {"offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,4}, " + rest, "gather_c21"},
  };
  for (const auto& [dims, label] : cases) {
    INFO(dims);
    CHECK_THAT(gather(dims),
               label == "ok" ? Catch::Contains("ok") : Catch::Contains(fmt::format("({})", label)));
  }
}

TEST_CASE("scatter constraints", "[hlo][verify]") {
  const std::string rest = "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus";
  const std::pair<std::string, std::string_view> cases[] = {
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0}, " + rest, "ok"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={}, " + rest, "scatter_c2"},
      {"(a, j, b), update_window_dims={1}, inserted_window_dims={0}, " + rest, "scatter_c4"},
      {"(a, j), update_window_dims={1}, inserted_window_dims={0}, " + rest, "operands"},
      {"(a, j, w), update_window_dims={1}, inserted_window_dims={0}, " + rest, "scatter_c6"},
      {"(a, j, u), update_window_dims={5}, inserted_window_dims={0}, " + rest, "scatter_c8"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0,0}, " + rest, "scatter_c9"},
      {"(a, j, u), update_window_dims={}, inserted_window_dims={1,0}, " + rest, "scatter_c10"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={2}, " + rest, "scatter_c11"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, "
       "index_vector_dim=1, to_apply=plus",
       "scatter_c19"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={9}, "
       "index_vector_dim=1, to_apply=plus",
       "scatter_c21"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
       "index_vector_dim=4, to_apply=plus",
       "scatter_c22"},
      {"(a, j, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
       "index_vector_dim=1, to_apply=one",
       "scatter_c23"},
  };
  for (const auto& [rest_of_op, label] : cases) {
    INFO(rest_of_op);
    CHECK_THAT(verdict("f32[2,3] scatter" + rest_of_op), Catch::Contains(std::string(label)));
  }
}

TEST_CASE("reduction and window constraints", "[hlo][verify]") {
  check_labels({
      {"f32[2] reduce(a, i), dimensions={1}, to_apply=plus", "reduce_c2"},
      {"f32[2] reduce(a, s), dimensions={1,1}, to_apply=plus", "reduce_c5"},
      {"f32[2] reduce(a, s), dimensions={1}, to_apply=one", "reduce_c6"},
      {"(f32[2], f32[2]) reduce(a, b, s, s), dimensions={1}, to_apply=plus", "reduce_c1"},
      {"f32[1,2] reduce-window(a, i), window={size=2x2}, to_apply=plus", "reduce_window_c3"},
      {"f32[1,2] reduce-window(a, s), window={size=2}, to_apply=plus", "reduce_window_c4"},
      {"f32[1,2] reduce-window(a, s), window={size=0x2}, to_apply=plus", "reduce_window_c5"},
      {"f32[1,2] reduce-window(a, s), window={size=2x2 stride=0x1}, to_apply=plus", "reduce_window_c7"},
      {"f32[1,2] reduce-window(a, s), window={size=2x2 lhs_dilate=0x1}, to_apply=plus", "reduce_window_c9"},
      {"f32[1,2] reduce-window(a, s), window={size=2x2 rhs_dilate=1x0}, to_apply=plus", "reduce_window_c11"},
      {"f32[1,2] reduce-window(a, s), window={size=2x2}, to_apply=one", "reduce_window_c13"},
      {"f32[2,3] select-and-scatter(a, b, s), window={size=2x2}, select=larger, scatter=plus",
       "select_and_scatter_c2"},
      {"f32[2,3] select-and-scatter(a, u2, i), window={size=2x2}, select=larger, scatter=plus",
       "select_and_scatter_c3"},
      {"f32[2,3] select-and-scatter(a, u2, s), window={size=2}, select=larger, scatter=plus",
       "select_and_scatter_c4"},
      {"f32[2,3] select-and-scatter(a, u2, s), window={size=2x2}, select=plus, scatter=plus",
       "select_and_scatter_c9"},
      {"f32[2,3] select-and-scatter(a, u2, s), window={size=2x2}, select=larger, scatter=one",
       "select_and_scatter_c10"},
      {"f32[2,3] sort(a), dimensions={2}, to_apply=larger", "sort_c4"},
      {"f32[2,3] sort(a), dimensions={1}, to_apply=plus", "sort_c5"},
      {"(f32[2,3], f32[3,4]) sort(a, b), dimensions={1}, to_apply=larger", "sort_c3"},
      {"(f32[2,9], s32[2,9]) topk(a), k=9", "top_k"},
  });
}

TEST_CASE("contraction and linear algebra constraints", "[hlo][verify]") {
  check_labels({
      {"f32[2,4] dot(a, b), lhs_batch_dims={0}", "dot_general_c1"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={1}", "dot_general_c2"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={1,1}, rhs_contracting_dims={0,1}", "dot_general_c3"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,0}", "dot_general_c4"},
      {"f32[2,4] dot(a, b), lhs_batch_dims={2}, rhs_batch_dims={0}", "dot_general_c5"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}", "dot_general_c6"},
      {"f32[2,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={3}", "dot_general_c7"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={3}", "dot_general_c8"},
      {"f32[2,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}", "dot_general_c9"},
      {"f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high}",
       "dot_general_c11"},
      {"f32[1,2] convolution(a, b), dim_labels=0bf_0io->0bf", "convolution_c1"},
      {"f32[2,4] convolution(a, b), window={size=3}, dim_labels=bf_io->bf", "convolution_c2"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_oi->bf", "convolution_c14"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_io->bf, feature_group_count=2", "convolution_c11"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_io->bf, feature_group_count=0", "convolution_c21"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_io->bf, batch_group_count=0", "convolution_c22"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_io->bf, batch_group_count=3", "convolution_c10"},
      {"f32[2,4] convolution(a, b), dim_labels=bf_io->bf, batch_group_count=3, feature_group_count=3",
       "convolution_c23"},
      {"c64[2,3] fft(a), fft_type=FFT, fft_length={3}", "fft_c2"},
      {"c64[2,2] fft(a), fft_type=RFFT, fft_length={4}", "fft_c4"},
      {"c64[2,2] fft(a), fft_type=RFFT, fft_length={}", "fft_c3"},
      {"c64[2,2] fft(a), fft_type=RFFT, fft_length={1,2,3}", "fft_c1"},
      {"f32[2,3] cholesky(a), lower=true", "cholesky_c3"},
      {"f32[] cholesky(s), lower=true", "cholesky_c2"},
      {"f32[2,3] triangular-solve(a, a), left_side=true, lower=true", "triangular_solve_c3"},
      {"f32[2,3] triangular-solve(s, a), left_side=true, lower=true", "triangular_solve_c2"},
      {"s32[] triangular-solve(s, i), left_side=true, lower=true", "triangular_solve_c1"},
      {"f32[2,3] batch-norm-inference(a, s, s, s, s), epsilon=0.1, feature_index=2", "batch_norm_c1"},
      {"f32[2,3] batch-norm-inference(a, i, i, i, i), epsilon=0.1, feature_index=0", "batch_norm_c2"},
      {"f32[2,3] batch-norm-inference(a, s, s, s, s), epsilon=0.1, feature_index=0", "batch_norm_c3"},
      {"f32[2,4] ragged-dot(a, b, i), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ragged_dot"},
  });
}

TEST_CASE("control flow constraints", "[hlo][verify]") {
  check_labels({
      {"f32[] call(s), to_apply=plus", "call_c1"},
      {"f32[] call(s), to_apply=plus, is_composite=true", "composite_c3"},
      {"f32[] while(s), condition=one, body=one", "while_c1"},
      {"f32[] while(s), condition=positive, body=plus", "while_c2"},
      {"f32[] while(s), condition=positive, body=positive", "while_c2"},
      {"f32[] conditional(s, s, s), branch_computations={one, one}", "case_c1"},
      {"f32[] conditional(i, s, a), branch_computations={one, one}", "case_c2"},
      {"f32[] conditional(i, s, s), branch_computations={one, positive}", "case_c3"},
      {"f32[] get-tuple-element(s), index=0", "get_tuple_element_c1"},
  });
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
