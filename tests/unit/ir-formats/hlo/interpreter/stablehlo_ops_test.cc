// Ops whose attributes are easiest to read as StableHLO text. Expected values are worked out by hand from the
// op's definition, or come from the published suite where noted.
#include <catch2/catch.hpp>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"

using namespace ncc;
using namespace ncc::hlo;

namespace {

// Runs `main` of a module given as its body; constants are its inputs.
Literal run(const std::string& text) {
  auto module = read_stablehlo(text, "test.mlir");
  if (!module.is_ok()) FAIL(module.status().diagnostic().to_string());
  auto result = interpret(*module.value(), {});
  if (!result.is_ok()) FAIL(result.status().diagnostic().to_string());
  return result.take();
}

std::vector<double> doubles(const Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_double(i));
  return values;
}
using Values = std::vector<double>;

}  // namespace

TEST_CASE("gather clamps its windows into the operand", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<3x2xi32> {
    %x = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
    %i = stablehlo.constant dense<[[1], [-7], [9]]> : tensor<3x1xi32>
    %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}>
      : (tensor<5xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    return %r : tensor<3x2xi32> })")) == Values{1, 2, 0, 1, 3, 4});
}

TEST_CASE("scatter applies duplicates and skips elements out of bounds", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<4xi32> {
    %x = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
    %i = stablehlo.constant dense<[[1], [1], [4], [-1]]> : tensor<4x1xi32>
    %u = stablehlo.constant dense<[1, 2, 100, 100]> : tensor<4xi32>
    %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<4xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4xi32>
    return %r : tensor<4xi32> })")) == Values{10, 23, 30, 40});
}

TEST_CASE("reduce_window pads with its init and folds it into every window", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<4xf32> {
    %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 4>,
      padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    return %r : tensor<4xf32> })")) == Values{1, 3, 6, 10});
}

TEST_CASE("sort is stable and moves all operands by one comparator", "[interpreter]") {
  const Literal result = run(R"(func.func @main() -> (tensor<5xi32>, tensor<5xi32>) {
    %k = stablehlo.constant dense<[3, 1, 3, 2, 1]> : tensor<5xi32>
    %v = stablehlo.iota dim = 0 : tensor<5xi32>
    %r:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
        %s = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) : (tensor<5xi32>, tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)
    return %r#0, %r#1 : tensor<5xi32>, tensor<5xi32> })");
  CHECK(doubles(result.elements()[0]) == Values{3, 3, 2, 1, 1});
  CHECK(doubles(result.elements()[1]) == Values{0, 2, 3, 1, 4});
}

TEST_CASE("a while loop updates its state until the condition fails, in place for slices", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<4xi32> {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %x = stablehlo.constant dense<0> : tensor<4xi32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%a = %i, %b = %x) : tensor<i32>, tensor<4xi32> cond {
      %c = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %a, %one : tensor<i32>
      %u = stablehlo.reshape %next : (tensor<i32>) -> tensor<1xi32>
      %y = stablehlo.dynamic_update_slice %b, %u, %a : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      stablehlo.return %next, %y : tensor<i32>, tensor<4xi32>
    }
    return %r#1 : tensor<4xi32> })")) == Values{1, 2, 3, 0});
}

TEST_CASE("convolution with dilations, groups and negative padding", "[interpreter]") {
  // Input 1 2 3 4 dilated by 2 is 1 0 2 0 3 0 4; cropped by one on the left: 0 2 0 3 0 4; taps two apart.
  CHECK(doubles(run(R"(func.func @main() -> tensor<1x1x4xf32> {
    %x = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
    %w = stablehlo.constant dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>
    %r = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
      window = {pad = [[-1, 0]], lhs_dilate = [2], rhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
    return %r : tensor<1x1x4xf32> })")) == Values{0, 32, 0, 43});
}

TEST_CASE("select_and_scatter adds each source to the first selected element of its window",
          "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<4xi32> {
    %x = stablehlo.constant dense<[5, 5, 1, 7]> : tensor<4xi32>
    %s = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>,
      window_strides = array<i64: 2>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %c = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
    }, {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %c = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %c : tensor<i32>
    }) : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
    return %r : tensor<4xi32> })")) == Values{10, 0, 0, 20});
}

TEST_CASE("threefry bits are those of the published test vector", "[interpreter]") {
  // Random123's known answer for Threefry2x32 with 20 rounds, key and counter zero: 6b200159 99ba4efe.
  const Literal result = run(R"(func.func @main() -> (tensor<2xui64>, tensor<1xui64>) {
    %s = stablehlo.constant dense<0> : tensor<2xui64>
    %a, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1xui64>)
    return %a, %b : tensor<2xui64>, tensor<1xui64> })");
  CHECK(result.elements()[1].at<uint64_t>(0) == 0x99ba4efe6b200159);
  CHECK(result.elements()[0].at<uint64_t>(1) == 1);
}

TEST_CASE("philox bits are those of the published test vector", "[interpreter]") {
  // Random123's known answer for Philox4x32 with 10 rounds, key and counter zero: 6627e8d5 e169c58d bc57ac4c
  // 9b00dbd8.
  const Literal result = run(R"(func.func @main() -> (tensor<3xui64>, tensor<4xui32>) {
    %s = stablehlo.constant dense<0> : tensor<3xui64>
    %a, %b = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
    return %a, %b : tensor<3xui64>, tensor<4xui32> })");
  CHECK(result.elements()[1].at<uint32_t>(0) == 0x6627e8d5);
  CHECK(result.elements()[1].at<uint32_t>(1) == 0xe169c58d);
  CHECK(result.elements()[1].at<uint32_t>(2) == 0xbc57ac4c);
  CHECK(result.elements()[1].at<uint32_t>(3) == 0x9b00dbd8);
}

TEST_CASE("cholesky and triangular_solve read one triangle", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<2x1xf32> {
    %a = stablehlo.constant dense<[[4.0, 99.0], [2.0, 5.0]]> : tensor<2x2xf32>
    %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[2.0], [5.0]]> : tensor<2x1xf32>
    %x = "stablehlo.triangular_solve"(%l, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    return %x : tensor<2x1xf32> })")) == Values{1, 2});
}

TEST_CASE("fft of any length inverts by ifft", "[interpreter]") {
  const Literal result = run(R"(func.func @main() -> tensor<15xcomplex<f32>> {
    %i = stablehlo.iota dim = 0 : tensor<15xf32>
    %z = stablehlo.constant dense<0.0> : tensor<15xf32>
    %c = stablehlo.complex %i, %z : tensor<15xcomplex<f32>>
    %f = stablehlo.fft %c, type = FFT, length = [15] : (tensor<15xcomplex<f32>>) -> tensor<15xcomplex<f32>>
    %g = stablehlo.fft %f, type = IFFT, length = [15] : (tensor<15xcomplex<f32>>) -> tensor<15xcomplex<f32>>
    return %g : tensor<15xcomplex<f32>> })");
  for (int64_t i = 0; i < 15; ++i) {
    CHECK(result.at<float>(2 * i) == Approx(static_cast<double>(i)).margin(1e-5));
    CHECK(result.at<float>(2 * i + 1) == Approx(0).margin(1e-5));
  }
}

TEST_CASE("quantized ops compute on real values and round to the stored grid", "[interpreter]") {
  CHECK(doubles(run(R"(func.func @main() -> tensor<2xf32> {
    %x = stablehlo.constant dense<[1.3, -0.6]> : tensor<2xf32>
    %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    %s = stablehlo.add %q, %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    %r = stablehlo.uniform_dequantize %s : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
    return %r : tensor<2xf32> })")) == Values{3, -1});
}
