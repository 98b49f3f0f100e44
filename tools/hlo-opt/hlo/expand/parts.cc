// Special values follow the interpreter, that is Annex G of the C standard but for products, which are plain:
// infinities and NaN part by part, and the sign of zero wherever no value underflows.
#include "tools/hlo-opt/hlo/expand/parts.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tools/hlo-opt/hlo/match.h"

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

// sinh(y) and cosh(y) as two factors each, so that sin(x) sinh(y) does not overflow where sinh(y) alone does.
struct Factors {
  Value first, second;
};

constexpr double kNoSmallTerm = 20;  // e^-2y is below the last place of 1

Value times(Value x, const Factors& factors) { return x * factors.first * factors.second; }

Factors hyperbolic_sine_factors(Value y) {
  const Value e = expm1(y);
  const Value near = select(less(abs(y), 1), 0.5 * (e + e / (e + 1)), 0.5 * (exp(y) - exp(-y)));
  const Value half = exp(abs(y) * 0.5), far = greater_equal(abs(y), kNoSmallTerm);
  return {select(far, copy_sign(half, y), near), select(far, half * 0.5, half.like(1))};
}

Factors hyperbolic_cosine_factors(Value y) {
  const Value half = exp(abs(y) * 0.5), far = greater_equal(abs(y), kNoSmallTerm);
  return {select(far, half, 0.5 * (exp(y) + exp(-y))), select(far, half * 0.5, half.like(1))};
}

// x, or where it is 0 a number of this size with the sign of `sign_of`; 0 for 0.
Value not_zero(Value x, Value sign_of, double size) { return select(equal(x, 0), sign(sign_of) * size, x); }

// A number of the sign of x, at most 1: for the sign of a zero that is multiplied with it.
Value bounded(Value x) { return select(is_nan(x), x.like(1), max(min(x, 1.0), -1.0)); }

// 1/4 for numbers whose sums of two could overflow, 1 for the others: those with both parts large, so that no
// part vanishes.
Value scale_down(const Parts& z) {
  const bool wide = z.re.dtype() == Dtype::F64;
  const Value x = abs(z.re), y = abs(z.im);
  const Value large =
      greater(max(x, y), wide ? 0x1p1021 : 0x1p125) & greater(min(x, y), wide ? 0x1p900 : 0x1p100);
  return select(large, x.like(0.25), x.like(1));
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
  // A ratio that underflows must not become 0 beside an infinite dividend.
  const double least = a.re.dtype() == Dtype::F64 ? 0x1p-1022 : 0x1p-126;
  const Value plain_ratio = small / large;
  const Value ratio =
      select(is_finite(large), not_zero(plain_ratio, small * sign(large), least), plain_ratio);
  const Value denominator = large + small * ratio;
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

namespace {

Parts plain_product(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Parts scaled(const Parts& z, double by) { return {z.re * by, z.im * by}; }

// Constants that make no product larger than the other factor.
bool is_at_most_one(const Parts& z) {
  for (const Value part : {z.re, z.im}) {
    const Literal* constant = splat_of(part.inst());
    if (!constant || !(std::fabs(constant->as_double(0)) <= 1)) return false;
  }
  return true;
}

}  // namespace

// Where a product or a sum of two overflows, the result is formed once more from scaled factors: it may be in
// range.
Parts product(const Parts& a, const Parts& b) {
  const Parts plain = plain_product(a, b);
  if (is_at_most_one(a) || is_at_most_one(b)) return plain;
  const bool wide = a.re.dtype() == Dtype::F64;
  const double down = wide ? 0x1p-520 : 0x1p-66;
  // What vanishes by scaling is too small to matter, but must not become 0 beside infinity.
  const auto small = [&](Value x) { return not_zero(x * down, x, wide ? 0x1p-1000 : 0x1p-100); };
  const Parts again = scaled(
      scaled(plain_product({small(a.re), small(a.im)}, {small(b.re), small(b.im)}), 1 / down), 1 / down);
  return {select(is_finite(plain.re), plain.re, again.re), select(is_finite(plain.im), plain.im, again.im)};
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
  const Value no_angle = ~is_finite(z.im);
  const Value im = select(equal(z.im, 0), z.im, half * sin(z.im) * half);
  const Value unbounded = equal(z.re, kInfinity) & no_angle;
  const Value re = select(unbounded, z.re.like(kInfinity), half * cos(z.im) * half);
  return choose(equal(z.re, -kInfinity) & no_angle, {zero, copy_sign(zero, z.im)}, {re, im});
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
  const Value im =
      select(equal(z.im, 0) & ~is_finite(z.re), z.im, times(cos(z.re), hyperbolic_sine_factors(z.im)));
  return {select(equal(z.re, 0), z.re, times(sin(z.re), hyperbolic_cosine_factors(z.im))),
          select(unbounded, z.re.like(kInfinity), im)};
}

Parts cosine(const Parts& z) {
  const Value on_axis = equal(z.re, 0) | equal(z.im, 0);
  const Value unbounded = is_infinite(z.im) & ~is_finite(z.re);
  const Value sine_of = sin(z.re);
  return {
      select(unbounded, z.re.like(kInfinity), times(cos(z.re), hyperbolic_cosine_factors(z.im))),
      select(on_axis, -(bounded(sine_of) * bounded(z.im)), -times(sine_of, hyperbolic_sine_factors(z.im)))};
}

// sinh(z) = -i sin(iz), cosh(z) = cos(iz)
Parts hyperbolic_sine(const Parts& z) {
  const Parts turned = sine({-z.im, z.re});
  return {turned.im, -turned.re};
}

Parts hyperbolic_cosine(const Parts& z) { return cosine({-z.im, z.re}); }

// With s = sin y, c = cos y, T = tanh x and q = 1 / cosh(x)^2: (T + i s c q) / (c^2 + s^2 T^2); ±1 at ±inf
// for every y.
Parts hyperbolic_tangent(const Parts& z) {
  const Value s = sin(z.im), c = cos(z.im), t = tanh(z.re);
  const Value inverse = 2 / (exp(z.re) + exp(-z.re));
  const Value denominator = c * c + s * s * t * t;
  const Value im = select(equal(z.im, 0), z.im, s * c * inverse * inverse / denominator);
  const Parts result{select(equal(z.re, 0), z.re, t / denominator), im};
  const Value zero = select(is_finite(z.im), s * c * 0.0, copy_sign(t.like(0), z.im));
  return choose(is_infinite(z.re), {t, zero}, result);
}

// tan(z) = -i tanh(iz)
Parts tangent(const Parts& z) {
  const Parts turned = hyperbolic_tangent({-z.im, z.re});
  return {turned.im, -turned.re};
}

// 1 + e^-x cos(y) = (e^-x - 1) cos(y) + 2 cos(y/2)^2 near the poles, where the sum would cancel.
Parts logistic(const Parts& z) {
  const Parts e = exponential({-z.re, -z.im});
  const Value half = cos(z.im * 0.5);
  const Value near = expm1(-z.re) * cos(z.im) + 2 * half * half;
  return quotient({z.re.like(1), z.re.like(0)}, {select(less(abs(z.re), 1), near, e.re + 1), e.im});
}

Parts sign_of(const Parts& z) {
  const Parts near = centred(z);
  const Value size = magnitude(near);
  return choose(is_zero(z), z, {near.re / size, near.im / size});
}

namespace {

// The product of the C standard: infinity where one factor is infinite, even beside NaN.
Parts annex_product(Parts a, Parts b) {
  const Parts plain = product(a, b);
  const Value a_infinite = is_infinite(a.re) | is_infinite(a.im),
              b_infinite = is_infinite(b.re) | is_infinite(b.im);
  const auto boxed = [](Value x, Value other_infinite, Value own_infinite) {
    const Value one = copy_sign(select(is_infinite(x), x.like(1), x.like(0)), x);
    const Value no_nan = select(is_nan(x), x.like(0), x);
    return select(own_infinite, one, select(other_infinite, no_nan, x));
  };
  const Parts c{boxed(a.re, b_infinite, a_infinite), boxed(a.im, b_infinite, a_infinite)};
  const Parts d{boxed(b.re, a_infinite, b_infinite), boxed(b.im, a_infinite, b_infinite)};
  const Value lost = is_nan(plain.re) & is_nan(plain.im) & (a_infinite | b_infinite);
  return choose(lost, scaled(plain_product(c, d), kInfinity), plain);
}

// The way of XLA:CPU, whose quirks the interpreter keeps for c64: |z|^c e^(-d arg z) (cos q + i sin q) with
// q = c arg z + d log |z|; its exponential neither overflows nor is subnormal, its logarithm
// takes no subnormal number.
Parts narrow_power(const Parts& base, const Parts& exponent) {
  const Value x = abs(base.re), y = abs(base.im), zero = x.like(0);
  const Value larger = select(less(x, y), y, x), smaller = select(less(y, x), y, x);
  const Value ratio = smaller / larger;
  const Value size = larger * sqrt(1 + ratio * ratio);
  const Value magnitude = select(is_nan(size), smaller, size);
  const Value angle = atan2(base.im, base.re);
  const Value decay = -exponent.im * angle;
  const Value shrunk = select(less(decay, -87.6831), zero, exp(min(decay, 88.8)));
  const Value log_of = select(equal(magnitude, 0), x.like(-kInfinity), log(max(magnitude, 0x1p-126)));
  const Value turn = exponent.re * angle + exponent.im * log_of;
  const Value scale = pow(magnitude, exponent.re) * shrunk;
  const Value real_exponent = equal(exponent.im, 0), grows = greater(exponent.re, 0);
  const Parts of_infinity{select(grows, x.like(kInfinity), zero), zero};
  const Value is_one = is_zero(exponent) | (equal(base.re, 1) & equal(base.im, 0));
  const Value positive_infinity = equal(base.re, kInfinity) & equal(base.im, 0) & real_exponent;
  return choose(is_one, {x.like(1), zero},
                choose(equal(magnitude, 0) & real_exponent & grows, {zero, zero},
                       choose(positive_infinity, of_infinity, {scale * cos(turn), scale * sin(turn)})));
}

// exp(exponent log(base)); powers of 0 and the power 0 apart.
Parts wide_power(const Parts& base, const Parts& exponent) {
  const Parts general = exponential(annex_product(exponent, logarithm(base)));
  const Value zero = base.re.like(0), nan = base.re.like(kNan);
  const Parts of_zero = choose(greater(exponent.re, 0), {zero, zero},
                               {select(equal(exponent.im, 0), base.re.like(kInfinity), nan), nan});
  const Parts one{base.re.like(1), zero};
  return choose(is_zero(exponent), one, choose(is_zero(base), of_zero, general));
}

}  // namespace

Parts power(const Parts& base, const Parts& exponent) {
  return base.re.dtype() == Dtype::F64 ? wide_power(base, exponent) : narrow_power(base, exponent);
}

}  // namespace ncc::hlo_passes
