func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
 %e = chlo.erf %x : tensor<2x8xf32> -> tensor<2x8xf32>
 %v, %i = chlo.top_k(%e, k = 3) : tensor<2x8xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
 return %v, %i : tensor<2x3xf32>, tensor<2x3xi32> }