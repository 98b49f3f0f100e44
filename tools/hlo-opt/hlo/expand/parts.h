// Complex values by their parts, and the functions of complex numbers written with them.
#pragma once
#include "tools/hlo-opt/hlo/expand/formula.h"

namespace ncc::hlo_passes {

struct Parts {
  Value re, im;
};

// Rounding differs from one-precision-up evaluation in the last places; no intermediate result overflows
// where the magnitude of the result does not. Special values: docs/decisions.md.
Value magnitude(const Parts& z);
Parts product(const Parts& a, const Parts& b);
Parts quotient(const Parts& a, const Parts& b);
Parts exponential(const Parts& z);
Parts exponential_minus_one(const Parts& z);
Parts logarithm(const Parts& z);
Parts logarithm_plus_one(const Parts& z);
Parts square_root(const Parts& z);
Parts cube_root(const Parts& z);
Parts sine(const Parts& z);
Parts cosine(const Parts& z);
Parts tangent(const Parts& z);
Parts hyperbolic_tangent(const Parts& z);
Parts hyperbolic_sine(const Parts& z);
Parts hyperbolic_cosine(const Parts& z);
Parts logistic(const Parts& z);
Parts sign_of(const Parts& z);
Parts power(const Parts& base, const Parts& exponent);

}  // namespace ncc::hlo_passes
