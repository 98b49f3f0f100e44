// Special functions of CHLO in double precision, for the interpreter only.
#pragma once
#include "common/dtype/dtype.h"

namespace ncc::penguin::special {

/// exp(-|x|) I1(x).
double bessel_i1e(double x);
double digamma(double x);
/// Inverse of erf; +-1 give infinities, beyond NaN.
double erf_inv(double x);
/// log |gamma(x)|.
double lgamma(double x);
/// The n-th derivative of digamma for whole n >= 0, NaN otherwise.
double polygamma(double n, double x);
/// sum over k >= 0 of (k + q)^-s.
double hurwitz_zeta(double s, double q);
/// The neighbour of a in the direction of b among the values of `dtype`.
double next_after(Dtype dtype, double a, double b);

}  // namespace ncc::penguin::special
