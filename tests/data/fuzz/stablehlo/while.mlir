func.func @main(%x: tensor<4xf32>, %step: tensor<4xf32>) -> tensor<4xf32> {
 %c = stablehlo.constant dense<7> : tensor<i32>
 %one = stablehlo.constant dense<1> : tensor<i32>
 %zero = stablehlo.constant dense<0> : tensor<i32>
 %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
  cond { %p = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
   stablehlo.return %p : tensor<i1> }
  do { %n = stablehlo.add %i, %one : tensor<i32>
   %w = stablehlo.add %v, %step : tensor<4xf32>
   stablehlo.return %n, %w : tensor<i32>, tensor<4xf32> }
 return %r#1 : tensor<4xf32>
}