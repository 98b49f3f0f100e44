// Ops whose operands, results, windows or index vectors are empty, under every pass.
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

constexpr char kEmpty[] = R"(HloModule m
sum { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y) }
ge { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = pred[] compare(x, y), direction=GE }
lt { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = pred[] compare(x, y), direction=LT }
neg { x = f32[] parameter(0)
  ROOT z = f32[] negate(x) }
ENTRY main {
  reduce0_a = f32[0,4] parameter(0)
  reduce0_z = f32[] constant(0)
  reduce0_r = f32[4] reduce(reduce0_a, reduce0_z), dimensions={0}, to_apply=sum
  reduce00_a = f32[4,0] parameter(1)
  reduce00_z = f32[] constant(0)
  reduce00_r = f32[0] reduce(reduce00_a, reduce00_z), dimensions={0}, to_apply=sum
  window0_a = f32[0] parameter(2)
  window0_z = f32[] constant(0)
  window0_r = f32[0] reduce-window(window0_a, window0_z), window={size=2 pad=0_1}, to_apply=sum
  windowpad_a = f32[0] parameter(3)
  windowpad_z = f32[] constant(0)
  windowpad_r = f32[2] reduce-window(windowpad_a, windowpad_z), window={size=2 pad=1_2}, to_apply=sum
  sort0_a = f32[3,0] parameter(4)
  sort0_r = f32[3,0] sort(sort0_a), dimensions={1}, to_apply=lt
  sortb_a = f32[0,3] parameter(5)
  sortb_r = f32[0,3] sort(sortb_a), dimensions={1}, to_apply=lt
  dotk0_a = f32[3,0] parameter(6)
  dotk0_b = f32[0,4] parameter(7)
  dotk0_r = f32[3,4] dot(dotk0_a, dotk0_b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  dotm0_a = f32[0,3] parameter(8)
  dotm0_b = f32[3,4] parameter(9)
  dotm0_r = f32[0,4] dot(dotm0_a, dotm0_b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  conv0_a = f32[0,8,2] parameter(10)
  conv0_w = f32[3,2,4] parameter(11)
  conv0_r = f32[0,6,4] convolution(conv0_a, conv0_w), window={size=3}, dim_labels=b0f_0io->b0f
  convf0_a = f32[1,8,0] parameter(12)
  convf0_w = f32[3,0,4] parameter(13)
  convf0_r = f32[1,6,4] convolution(convf0_a, convf0_w), window={size=3}, dim_labels=b0f_0io->b0f
  chol0_a = f32[2,0,0] parameter(14)
  chol0_r = f32[2,0,0] cholesky(chol0_a), lower=true
  cholb0_a = f32[0,3,3] parameter(15)
  cholb0_r = f32[0,3,3] cholesky(cholb0_a), lower=true
  tri0_a = f32[0,3,3] parameter(16)
  tri0_b = f32[0,3,2] parameter(17)
  tri0_r = f32[0,3,2] triangular-solve(tri0_a, tri0_b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  tric0_a = f32[3,3] parameter(18)
  tric0_b = f32[3,0] parameter(19)
  tric0_r = f32[3,0] triangular-solve(tric0_a, tric0_b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  fft0_a = c64[3,0] parameter(20)
  fft0_r = c64[3,0] fft(fft0_a), fft_type=FFT, fft_length={0}
  rfft0_a = f32[0,8] parameter(21)
  rfft0_r = c64[0,5] fft(rfft0_a), fft_type=RFFT, fft_length={8}
  topk0_a = f32[3,5] parameter(22)
  topk0_r = (f32[3,0], s32[3,0]) topk(topk0_a), k=0, largest=true
  topkb_a = f32[0,5] parameter(23)
  topkb_r = (f32[0,2], s32[0,2]) topk(topkb_a), k=2, largest=true
  gather0_a = f32[5,4] parameter(24)
  gather0_i = s32[0,1] parameter(25)
  gather0_r = f32[0,4] gather(gather0_a, gather0_i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  gatherw0_a = f32[5,0] parameter(26)
  gatherw0_i = s32[3,1] parameter(27)
  gatherw0_r = f32[3,0] gather(gatherw0_a, gatherw0_i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,0}
  gatherv0_a = f32[5,4] parameter(28)
  gatherv0_i = s32[3,0] parameter(29)
  gatherv0_r = f32[3,5,4] gather(gatherv0_a, gatherv0_i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=1, slice_sizes={5,4}
  scatter0_a = f32[5,4] parameter(30)
  scatter0_i = s32[0,1] parameter(31)
  scatter0_u = f32[0,4] parameter(32)
  scatter0_r = f32[5,4] scatter(scatter0_a, scatter0_i, scatter0_u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  scatterv0_a = f32[5,4] parameter(33)
  scatterv0_i = s32[0] parameter(34)
  scatterv0_u = f32[5,4] parameter(35)
  scatterv0_r = f32[5,4] scatter(scatterv0_a, scatterv0_i, scatterv0_u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim=0, to_apply=sum
  scatterv0n_a = f32[5,4] parameter(36)
  scatterv0n_i = s32[2,0] parameter(37)
  scatterv0n_u = f32[2,5,4] parameter(38)
  scatterv0n_r = f32[5,4] scatter(scatterv0n_a, scatterv0n_i, scatterv0n_u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim=1, to_apply=sum
  sas0_a = f32[0] parameter(39)
  sas0_s = f32[0] parameter(40)
  sas0_z = f32[] constant(0)
  sas0_r = f32[0] select-and-scatter(sas0_a, sas0_s, sas0_z), window={size=2 pad=0_1}, select=ge, scatter=sum
  bn0_a = f32[0,2] parameter(41)
  bn0_s = f32[2] parameter(42)
  bn0_r = (f32[0,2], f32[2], f32[2]) batch-norm-training(bn0_a, bn0_s, bn0_s), epsilon=0.001, feature_index=1
  map0_a = f32[0] parameter(43)
  map0_r = f32[0] map(map0_a), dimensions={0}, to_apply=neg
  concat0_a = f32[0,4] parameter(44)
  concat0_b = f32[3,4] parameter(45)
  concat0_r = f32[3,4] concatenate(concat0_a, concat0_b), dimensions={0}
  pad0_a = f32[0] parameter(46)
  pad0_z = f32[] constant(1)
  pad0_r = f32[3] pad(pad0_a, pad0_z), padding=1_2
  ds0_a = f32[4] parameter(47)
  ds0_i = s32[] parameter(48)
  ds0_r = f32[0] dynamic-slice(ds0_a, ds0_i), dynamic_slice_sizes={0}
  dus0_a = f32[4] parameter(49)
  dus0_u = f32[0] parameter(50)
  dus0_i = s32[] parameter(51)
  dus0_r = f32[4] dynamic-update-slice(dus0_a, dus0_u, dus0_i)
  rng0_z = f32[] parameter(52)
  rng0_o = f32[] parameter(53)
  rng0_r = f32[0] rng(rng0_z, rng0_o), distribution=rng_uniform
  rbg0_s = u64[2] parameter(54)
  rbg0_r = (u64[2], u32[0]) rng-bit-generator(rbg0_s), algorithm=rng_three_fry
  scalar_sort_a = f32[1] parameter(55)
  scalar_sort_r = f32[1] sort(scalar_sort_a), dimensions={0}, to_apply=lt
  dots_a = f32[] parameter(56)
  dots_b = f32[] parameter(57)
  dots_r = f32[] dot(dots_a, dots_b)
  csum0_a = c64[0] parameter(58)
  csum0_b = c64[0] parameter(59)
  csum0_r = c64[0] multiply(csum0_a, csum0_b)
  i64_0_a = s64[0] parameter(60)
  i64_0_r = s64[0] multiply(i64_0_a, i64_0_a)
  sr0_a = f32[0] parameter(61)
  sr0_b = u32[0] parameter(62)
  sr0_r = s32[0] stochastic-convert(sr0_a, sr0_b)
  rev0_a = f32[0,3] parameter(63)
  rev0_t = f32[3,0] transpose(rev0_a), dimensions={1,0}
  rev0_r = f32[3,0] reverse(rev0_t), dimensions={0,1}
  ROOT r = (f32[4], f32[0], f32[0], f32[2], f32[3,0], f32[0,3], f32[3,4], f32[0,4], f32[0,6,4],
      f32[1,6,4], f32[2,0,0], f32[0,3,3], f32[0,3,2], f32[3,0], c64[3,0], c64[0,5], (f32[3,0], s32[3,0]),
      (f32[0,2], s32[0,2]), f32[0,4], f32[3,0], f32[3,5,4], f32[5,4], f32[5,4], f32[5,4], f32[0],
      (f32[0,2], f32[2], f32[2]), f32[0], f32[3,4], f32[3], f32[0], f32[4], f32[0], (u64[2], u32[0]),
      f32[1], f32[], c64[0], s64[0], s32[0], f32[3,0]) tuple(reduce0_r, reduce00_r, window0_r,
      windowpad_r, sort0_r, sortb_r, dotk0_r, dotm0_r, conv0_r, convf0_r, chol0_r, cholb0_r, tri0_r,
      tric0_r, fft0_r, rfft0_r, topk0_r, topkb_r, gather0_r, gatherw0_r, gatherv0_r, scatter0_r,
      scatterv0_r, scatterv0n_r, sas0_r, bn0_r, map0_r, concat0_r, pad0_r, ds0_r, dus0_r, rng0_r, rbg0_r,
      scalar_sort_r, dots_r, csum0_r, i64_0_r, sr0_r, rev0_r)
}
)";

TEST_CASE("every pass, and the default order, takes arrays without elements", "[hlo-passes]") {
  const std::unique_ptr<hlo::Module> module = parse(kEmpty);
  Result<std::vector<hlo::Literal>> args = check_arguments(*module, {"", 1, true});
  REQUIRE(args.is_ok());
  int64_t equal = 0;
  const Status status = check_each_pass(
      *module, args.value(), {}, [&](std::string_view pass, Outcome outcome, const Status& ran) {
        INFO(pass << ": " << (ran.is_ok() ? "" : ran.diagnostic().to_string()));
        CHECK(outcome != Outcome::Wrong);
        equal += outcome == Outcome::Equal;
      });
  CHECK(status.is_ok());
  CHECK(equal > 10);
}

}  // namespace
}  // namespace ncc::hlo_passes
