// Small modules that the tests of this folder share.
#pragma once
#include <string_view>

namespace ncc::penguin {

/// A contraction, a reduction, maps with scalars, iota, compare, a concatenation and a view.
inline constexpr std::string_view kTensorLevel = R"(penguin 1 "sample"
input "x" f32[4,8] tensor 0 "x" conversion none
input "flag" pred[4] tensor 1 "flag" conversion pred
output "output0" f32[2,16] tensor 7 "output0" conversion none

function "main" {
  axes i0=4 i1=8 k2=8 i3=4 i4=4 r5=8 i6=4 i7=8 i8=2 i9=16
  axes i10=2 i11=16
  tensor %x: f32[4,8] input io 0 at "jit(f)/x" "f.py":3
  tensor %flag: pred[4] input io 1
  tensor %w: f32[8,8] const offset 64 hash "00ff"
  tensor %dot.1: f32[4,8]
  tensor %max: f32[4]
  tensor %"odd name\\": f32[4,8]
  tensor %flat: f32[2,16] alias %"odd name\\"
  tensor %output0: f32[2,16] output io 0
  inputs %x %flag
  outputs %output0
  Contract %dot.1[i0, i1] = %x[i0, k2], %w[k2, i1] for i0:4 lhs_free, i1:8 rhs_free, k2:8 contract name "dot.1" at "jit(f)/dot" "f.py":4
  Reduce maximum %max[i4] = %dot.1[i4, r5], f32(-0) for i4:4, r5:8 reduce name "max" tag "softmax.max"
  Map select_n %"odd name\\"[i6, i7] = %flag[i6], index f32(1 + 8*i6 - i7), %max[3 - i6] for i6:4, i7:8 name "select"
  Map compare(LT total_order) %output0[i8, i9] = f32(1e-05), f32(0x7fc00000) for i8:2, i9:16 name "compare"
}
)";

/// One loop with a transfer, a matmul and an activation.
inline constexpr std::string_view kTileLevel = R"(penguin 1 "tiles"

function "main" {
  axes t=4 k=2
  tensor %a: bf16[512,64] input io 0 dram
  tensor %s: bf16[128,64] sbuf scope t
  tensor %p: f32[64,64] psum
  inputs %a
  outputs
  loop t:4 {
    tile Load Unassigned %s(0, 0 : bf16 128*1 64*1) = %a(0, 8192*t : bf16 128*64 64*1) name "load"
    tile Matmult PE %p(0, 0 : f32 64*1 64*1) = %s(0, 0 : bf16 128*1 64*1) %s(0, 0 : bf16 128*1 64*1) { k_axes="0" group="3" } name "mm"
  }
  tile Memset Pool %p(0, 0 : f32 64*1 64*1) = { constant="7" }
}
)";

}  // namespace ncc::penguin
