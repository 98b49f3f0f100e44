func.func @main(%x: tensor<f32>) -> tensor<f32> { %y = call @main(%x) : (tensor<f32>) -> tensor<f32>
 return %y : tensor<f32> }