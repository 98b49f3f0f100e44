func.func @main(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
 %r = "stablehlo.case"(%i) ({ stablehlo.return %x : tensor<4xf32> }, { %n = stablehlo.negate %x : tensor<4xf32>
 stablehlo.return %n : tensor<4xf32> }) : (tensor<i32>) -> tensor<4xf32>
 return %r : tensor<4xf32> }