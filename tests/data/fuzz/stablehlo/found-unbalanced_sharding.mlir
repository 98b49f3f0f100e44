#loc = loc("f.py":1:2 to :9)
#a = dense<[1, 2]> : tensor<2xi64>
!t = tensor<2xf32>
module @m attributes {mhlo.num_replicas = 1 : i32} {
 func.func public @main(%arg0: !t {jax.arg_info = "x", mhlo.sharding = "{}replicated}", tf.aliasing_output = 0 : i32} loc("x")) -> (!t {jax.result_info = "r"}) {
  %0 = stablehlo.negate %arg0 {k = #a} : !t loc("op"(callsite("f"(#loc) at #loc)))
  return %0 : !t loc(fused<"m">["p", unknown])
 } loc(#loc)
}
