#include "tools/hlo-opt/hlo/expand/parts.h"

#include <limits>
#include <numbers>

namespace ncc::hlo_passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Parts choose(Value predicate, const Parts& on_true, const Parts& on_false) {
  return {select(predicate, on_true.re, on_false.re), select(predicate, on_true.im, on_false.im)};
}

Value is_zero(const Parts& z) { return equal(z.re, 0) & equal(z.im, 0); }
Value is_infinite(Value x) { return equal(abs(x), kInfinity); }
Value is_finite(Value x) { return unary(Opcode::IsFinite, x); }

// The sign of `sign` (of zero, too) on the magnitude of x.
Value copy_sign(Value x, Value sign) {
  // 1/-0 is negative: this finds the sign without bits.
  const Value negative = less(sign, 0) | (equal(sign, 0) & less(1 / sign, 0));
  return select(negative, -abs(x), abs(x));
}

Value hyperbolic_sine_of(Value y) {
  const Value e = expm1(y);
  const double ln2 = std::numbers::ln2;
  return select(less(abs(y), 1), 0.5 * (e + e / (e + 1)), exp(y - ln2) - exp(-ln2 - y));
}

Value hyperbolic_cosine_of(Value y) {
  const double ln2 = std::numbers::ln2;
  return exp(y - ln2) + exp(-ln2 - y);
}

// 1/4 for numbers whose sums of two could overflow, 1 for the others.
Value scale_down(const Parts& z) {
  const double huge = z.re.dtype() == Dtype::F64 ? 0x1p1021 : 0x1p125;
  return select(greater(max(abs(z.re), abs(z.im)), huge), z.re.like(0.25), z.re.like(1));
}

// `small` where both parts are so small that they keep few places, `large` where their magnitude overflows,
// else 1.
Value graded(const Parts& z, double small, double large) {
  const bool wide = z.re.dtype() == Dtype::F64;
  const Value larger = max(abs(z.re), abs(z.im));
  const Value one = z.re.like(1);
  return select(less(larger, wide ? 0x1p-960 : 0x1p-100), one.like(small),
                select(greater(larger, wide ? 0x1p1000 : 0x1p120), one.like(large), one));
}

// In the middle of the range: by 2^96 or 2^-6, which have square and cube roots.
Parts centred(const Parts& z) {
  const Value by = graded(z, 0x1p96, 0x1p-6);
  return {z.re * by, z.im * by};
}

// Smith's method: the ratio of the smaller to the larger part of b keeps the denominator in range. Infinite
// results and quotients by infinity follow Annex G of the C standard.
Parts scaled_quotient(const Parts& a, const Parts& b) {
  const Value steep = less(abs(b.re), abs(b.im));
  const Value small = select(steep, b.re, b.im), large = select(steep, b.im, b.re);
  const Value ratio = small / large, denominator = large + small * ratio;
  const Value re = select(steep, a.re * ratio + a.im, a.re + a.im * ratio) / denominator;
  const Value im = select(steep, a.im * ratio - a.re, a.im - a.re * ratio) / denominator;
  const Parts result{re, im};
  const Value lost = is_nan(re) & is_nan(im);
  const Value zero_divisor = is_zero(b) & ~(is_nan(a.re) & is_nan(a.im));
  const Value infinity = copy_sign(b.re.like(kInfinity), b.re);
  const Parts by_zero{infinity * a.re, infinity * a.im};
  const auto one_if_infinite = [](Value x) {
    return copy_sign(select(is_infinite(x), x.like(1), x.like(0)), x);
  };
  const auto finite = [](const Parts& z) {
    return unary(Opcode::IsFinite, z.re) & unary(Opcode::IsFinite, z.im);
  };
  const Value infinite_dividend = (is_infinite(a.re) | is_infinite(a.im)) & finite(b);
  const Value ax = one_if_infinite(a.re), ay = one_if_infinite(a.im);
  const Parts from_infinity{(ax * b.re + ay * b.im) * kInfinity, (ay * b.re - ax * b.im) * kInfinity};
  const Value infinite_divisor = (is_infinite(b.re) | is_infinite(b.im)) & finite(a);
  const Value bx = one_if_infinite(b.re), by = one_if_infinite(b.im);
  const Parts by_infinity{(a.re * bx + a.im * by) * 0.0, (a.im * bx - a.re * by) * 0.0};
  const Parts special =
      choose(zero_divisor, by_zero,
             choose(infinite_dividend, from_infinity, choose(infinite_divisor, by_infinity, result)));
  return choose(lost, special, result);
}

}  // namespace

// max sqrt(1 + (min/max)^2): an infinite part gives infinity even beside NaN.
Value magnitude(const Parts& z) {
  const Value x = abs(z.re), y = abs(z.im);
  const Value larger = max(x, y), ratio = min(x, y) / larger;
  const Value finite = select(equal(larger, 0), larger, larger * sqrt(1 + ratio * ratio));
  return select(equal(x, kInfinity) | equal(y, kInfinity), x.like(kInfinity), finite);
}

Parts product(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Parts quotient(const Parts& dividend, const Parts& divisor) {
  const Value down = scale_down(dividend), up = scale_down(divisor);
  const Parts a{dividend.re * down, dividend.im * down}, b{divisor.re * up, divisor.im * up};
  const Parts result = scaled_quotient(a, b);
  const Value back = up / down;
  return {result.re * back, result.im * back};
}

// e^x in two factors, so that e^x cos(y) does not overflow where e^x alone does; e^-inf is 0 for every y.
Parts exponential(const Parts& z) {
  const Value half = exp(z.re * 0.5), zero = z.re.like(0);
  const Value vanishes = equal(z.re, -kInfinity);
  const Value im = select(equal(z.im, 0), z.im, half * sin(z.im) * half);
  const Value unbounded = equal(z.re, kInfinity) & ~is_finite(z.im);
  const Value re = select(unbounded, z.re.like(kInfinity), half * cos(z.im) * half);
  return choose(vanishes, {zero, zero}, {re, im});
}

Parts exponential_minus_one(const Parts& z) {
  const Value half_sine = sin(z.im * 0.5);
  const Value im = select(equal(z.im, 0), z.im, exp(z.re) * sin(z.im));
  return {expm1(z.re) * cos(z.im) - 2 * half_sine * half_sine, im};
}

// log max + log1p((min/max)^2) / 2
Parts logarithm(const Parts& z) {
  const Value x = abs(z.re), y = abs(z.im);
  const Value larger = max(x, y), ratio = min(x, y) / larger;
  const Value finite = select(equal(larger, 0), log(larger), log(larger) + 0.5 * log1p(ratio * ratio));
  const Value re = select(equal(x, kInfinity) | equal(y, kInfinity), x.like(kInfinity), finite);
  return {re, atan2(z.im, z.re)};
}

Parts logarithm_plus_one(const Parts& z) {
  const Value near_zero = less(magnitude(z), 0.5);
  const Parts far = logarithm({z.re + 1, z.im});
  const Value near_re = 0.5 * log1p(z.re * (z.re + 2) + z.im * z.im);
  return {select(near_zero, near_re, far.re), far.im};
}

// t = sqrt((|x| + |z|) / 2), then (t, y / 2t) or, left of the imaginary axis, (|y| / 2t, ±t).
Parts centred_root(const Parts& z) {
  const Value t = sqrt(abs(z.re) * 0.5 + magnitude(z) * 0.5);
  const Value other = z.im / (t * 2);
  const Value right = greater_equal(z.re, 0);
  const Parts result{select(right, t, abs(other)), select(right, other, copy_sign(t, z.im))};
  const Parts zero{z.re.like(0), z.im};
  const Parts upwards{z.re.like(kInfinity), z.im};  // infinite imaginary part
  return choose(is_zero(z), zero, choose(is_infinite(z.im), upwards, result));
}

Parts square_root(const Parts& z) {
  const Parts root = centred_root(centred(z));
  const Value back = graded(z, 0x1p-48, 0x1p3);
  return {root.re * back, root.im * back};
}

Parts cube_root(const Parts& z) {
  const Value size = unary(Opcode::Cbrt, magnitude(centred(z))) * graded(z, 0x1p-32, 0x1p2);
  const Value angle = atan2(z.im, z.re) / 3;
  return choose(is_zero(z), z, {size * cos(angle), size * sin(angle)});
}

// A part that is 0 on an axis is 0 there also beside infinity; where the imaginary part is infinite and the
// real one has no sine, one part is infinite.
Parts sine(const Parts& z) {
  const Value unbounded = is_infinite(z.im) & ~is_finite(z.re);
  const Value im = select(equal(z.im, 0), z.im, cos(z.re) * hyperbolic_sine_of(z.im));
  return {select(equal(z.re, 0), z.re, sin(z.re) * hyperbolic_cosine_of(z.im)),
          select(unbounded, z.re.like(kInfinity), im)};
}

Parts cosine(const Parts& z) {
  const Value on_axis = equal(z.re, 0) | equal(z.im, 0);
  const Value unbounded = is_infinite(z.im) & ~is_finite(z.re);
  return {select(unbounded, z.re.like(kInfinity), cos(z.re) * hyperbolic_cosine_of(z.im)),
          select(on_axis, z.re.like(0), -(sin(z.re) * hyperbolic_sine_of(z.im)))};
}

Parts hyperbolic_sine(const Parts& z) {
  return {hyperbolic_sine_of(z.re) * cos(z.im), hyperbolic_cosine_of(z.re) * sin(z.im)};
}

Parts hyperbolic_cosine(const Parts& z) {
  return {hyperbolic_cosine_of(z.re) * cos(z.im), hyperbolic_sine_of(z.re) * sin(z.im)};
}

// With s = sin y, c = cos y, T = tanh x and q = 1 / cosh(x)^2: (T + i s c q) / (c^2 + s^2 T^2); ±1 at ±inf
// for every y.
Parts hyperbolic_tangent(const Parts& z) {
  const Value s = sin(z.im), c = cos(z.im), t = tanh(z.re);
  const Value inverse = 1 / hyperbolic_cosine_of(z.re);
  const Value denominator = c * c + s * s * t * t;
  const Value im = select(equal(z.im, 0), z.im, s * c * inverse * inverse / denominator);
  const Parts result{select(equal(z.re, 0), z.re, t / denominator), im};
  return choose(is_infinite(z.re), {t, t.like(0)}, result);
}

// tan(z) = -i tanh(iz)
Parts tangent(const Parts& z) {
  const Parts turned = hyperbolic_tangent({-z.im, z.re});
  return {turned.im, -turned.re};
}

Parts logistic(const Parts& z) {
  const Parts e = exponential({-z.re, -z.im});
  const Value zero = z.re.like(0);
  const Parts result = quotient({z.re.like(1), zero}, {e.re + 1, e.im});
  return choose(equal(z.re, -kInfinity), {zero, zero}, result);
}

Parts sign_of(const Parts& z) {
  const Parts near = centred(z);
  const Value size = magnitude(near);
  return choose(is_zero(z), z, {near.re / size, near.im / size});
}

// exp(exponent log(base)); powers of 0 and the power 0 apart.
Parts power(const Parts& base, const Parts& exponent) {
  const Parts general = exponential(product(exponent, logarithm(base)));
  const Value zero = base.re.like(0), nan = base.re.like(kNan);
  const Parts of_zero = choose(greater(exponent.re, 0), {zero, zero},
                               {select(equal(exponent.im, 0), base.re.like(kInfinity), nan), nan});
  const Parts one{base.re.like(1), zero};
  return choose(is_zero(exponent), one, choose(is_zero(base), of_zero, general));
}

}  // namespace ncc::hlo_passes
