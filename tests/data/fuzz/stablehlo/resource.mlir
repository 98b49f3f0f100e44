func.func @main() -> tensor<2xf32> {
 %c = stablehlo.constant dense_resource<blob> : tensor<2xf32>
 return %c : tensor<2xf32>
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F00000040" } } #-}