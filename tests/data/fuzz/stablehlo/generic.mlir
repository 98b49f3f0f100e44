"func.func"() <{function_type = (tensor<4xf32>) -> tensor<f32>, sym_name = "main"}> ({
^bb0(%x: tensor<4xf32>):
 %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
 %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
 ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%s) : (tensor<f32>) -> ()
 }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
 "func.return"(%r) : (tensor<f32>) -> ()
}) : () -> ()