// Special functions in double, each within about one ulp: computed in x87 extended precision by convergent
// series, recurrences and asymptotic expansions, never by fitted approximations that a compiler might share.
#pragma once

namespace ncc::hlo {

double erf_inv(double y);         // NaN outside [-1, 1], ±inf at ±1
double log_gamma(double x);       // log |Γ(x)|; +inf at the poles
double digamma(double x);         // NaN at the poles
double zeta(double x, double q);  // Hurwitz: Σ_{k≥0} (q + k)^-x; x = 1: +inf, x < 1: NaN
double polygamma(double n, double x);
double bessel_i1e(double x);  // exp(-|x|) I1(x)

}  // namespace ncc::hlo
