// f32 functions with XLA:CPU's own rounding. XLA evaluates a few composite functions in f32 on top of short
// polynomials; the published values hold the error of that chain, which exact functions do not reproduce.
// Used where a result depends on it: complex power, expm1.
#pragma once
#include <complex>

namespace ncc::hlo {

/// Within 1 ulp on [-87.8, 88.8]; arguments beyond are clamped, so nothing overflows to infinity below 88.8.
float xla_exp(float x);
/// Within 1 ulp; subnormal arguments count as the smallest normal number.
float xla_log(float x);
/// |z|^c e^(-d arg z) (cos q + i sin q) with q = c arg z + d log |z|, for the exponent c + di.
std::complex<float> xla_power(std::complex<float> base, std::complex<float> exponent);

}  // namespace ncc::hlo
