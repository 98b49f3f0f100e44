#include "ir-formats/hlo/interpreter/xla_float.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"

using namespace ncc::hlo;

TEST_CASE("XLA's f32 exponential and logarithm are within two units of the last place", "[interpreter]") {
  for (float x = -87; x < 88; x += 0.37F) CHECK(xla_exp(x) == Approx(std::exp(double{x})).epsilon(2.4e-7));
  for (float x = 1e-37F; x < 1e37F; x *= 1.7F)
    CHECK(xla_log(x) == Approx(std::log(double{x})).epsilon(2.4e-7));
  CHECK(xla_exp(100) == std::numeric_limits<float>::infinity());
  CHECK(xla_log(0) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(xla_log(-1)));
}

TEST_CASE("complex power of f32 has XLA's corner values", "[interpreter]") {
  using C = std::complex<float>;
  CHECK(xla_power(C(0, 0), C(0, 0)) == C(1, 0));
  CHECK(xla_power(C(0, 0), C(2, 0)) == C(0, 0));
  CHECK(xla_power(C(1, 0), C(3, 4)) == C(1, 0));
  CHECK(std::abs(xla_power(C(0, 1), C(2, 0)) - C(-1, 0)) < 1e-6F);
}

// Worked out by hand: x [[2, 4], [0, 8]] = [6, 20] gives [3, 1]; the lower triangle is not read.
TEST_CASE("an f32 triangular solve reads one triangle, on either side", "[interpreter]") {
  auto module = read_stablehlo(R"(func.func @main() -> tensor<1x2xf32> {
    %a = stablehlo.constant dense<[[2.0, 4.0], [99.0, 8.0]]> : tensor<2x2xf32>
    %b = stablehlo.constant dense<[[6.0, 20.0]]> : tensor<1x2xf32>
    %x = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    return %x : tensor<1x2xf32> })",
                               "test.mlir");
  REQUIRE(module.is_ok());
  auto result = interpret(*module.value(), {});
  REQUIRE(result.is_ok());
  CHECK(result.value().as_double(0) == 3);
  CHECK(result.value().as_double(1) == 1);
}
