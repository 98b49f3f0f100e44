// Deterministic fp32 and fp64 functions for values that reach a NEFF or a result: the same bits on every CPU.
// Each fp32 function is its fp64 kernel (kernels.h, relative error below 1e-13) rounded once: within 1 ulp.
// Source: DESIGN section 14, N1.
#pragma once
#include <cstdint>

namespace ncc::math {

// FUNCTION(name): float f(float) and double f(double).
#define NCC_MATH_UNARY(FUNCTION) \
  FUNCTION(exp)                  \
  FUNCTION(expm1)                \
  FUNCTION(log)                  \
  FUNCTION(log1p)                \
  FUNCTION(sigmoid)              \
  FUNCTION(tanh)                 \
  FUNCTION(softplus)             \
  FUNCTION(erf)                  \
  FUNCTION(erfc)                 \
  FUNCTION(sin)                  \
  FUNCTION(cos)                  \
  FUNCTION(tan)                  \
  FUNCTION(atan)                 \
  FUNCTION(rsqrt)                \
  FUNCTION(cbrt)

#define NCC_MATH_DECLARE(name) \
  float name(float x);         \
  double name(double x);
NCC_MATH_UNARY(NCC_MATH_DECLARE)
#undef NCC_MATH_DECLARE

float pow(float x, float y);
double pow(double x, double y);
float atan2(float y, float x);
double atan2(double y, double x);
/// x - y * floor(x / y): the sign of the divisor; exact before one final rounding (N2).
float floor_mod(float x, float y);

}  // namespace ncc::math
