func.func @main(%x: tensor<f32>) -> tensor<f32> { %r:9223372036854775807 = stablehlo.abs %x : tensor<f32>
 return %r#9 : tensor<f32> }