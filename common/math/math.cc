// Scalar entry points over the kernels: argument ranges the kernels leave out (large angles, subnormal
// doubles, exact cases).
#include "common/math/math.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/math/kernels.h"

namespace ncc::math {
namespace {

// x mod pi/2 for any finite double, as quadrant and remainder. Up to 2^20 two-part Cody-Waite; beyond,
// exact integer arithmetic on the binary expansion of 2/pi (as many bits as the largest exponent needs).
struct Angle {
  int quadrant;
  double r;
};

// 2/pi in 64-bit words, most significant first; 1216 bits cover 2^1024 with 128 bits of fraction.
constexpr uint64_t kTwoOverPi[] = {
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};

uint64_t bits_of_two_over_pi(
    int first) {  // 64 bits from fraction bit `first` (0 = weight 2^-1); bits before are 0
  uint64_t word = 0;
  for (int i = 0; i < 64; ++i) {
    const int bit = first + i;
    const bool set = bit >= 0 && bit / 64 < static_cast<int>(std::size(kTwoOverPi)) &&
                     ((kTwoOverPi[bit / 64] >> (63 - bit % 64)) & 1);
    word = word << 1 | (set ? 1 : 0);
  }
  return word;
}

Angle reduce_large(double magnitude) {
  int exponent;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(magnitude, &exponent), 53));
  exponent -= 53;  // magnitude = mantissa * 2^exponent, exponent > -34 here
  // Product of the mantissa and a 192-bit window of 2/pi; window bits of weight above 2^2 / 2^exponent only
  // add multiples of 4.
  const int first = std::max(exponent - 2, 0);
  uint64_t window[3];
  for (int i = 0; i < 3; ++i) window[i] = bits_of_two_over_pi(first + 64 * i);
  unsigned __int128 low = static_cast<unsigned __int128>(mantissa) * window[2];
  unsigned __int128 mid =
      static_cast<unsigned __int128>(mantissa) * window[1] + static_cast<uint64_t>(low >> 64);
  unsigned __int128 high =
      static_cast<unsigned __int128>(mantissa) * window[0] + static_cast<uint64_t>(mid >> 64);
  const uint64_t product[4] = {static_cast<uint64_t>(high >> 64), static_cast<uint64_t>(high),
                               static_cast<uint64_t>(mid), static_cast<uint64_t>(low)};
  // Fraction starts after integer_bits of the 256-bit product.
  const int integer_bits = 64 - first + exponent;
  auto take = [&](int from) {
    uint64_t word = 0;
    for (int i = 0; i < 64; ++i) {
      const int bit = from + i;
      word = word << 1 | (bit >= 0 && bit < 256 ? (product[bit / 64] >> (63 - bit % 64)) & 1 : 0);
    }
    return word;
  };
  int quadrant = static_cast<int>(take(integer_bits - 64) & 3);
  const uint64_t f0 = take(integer_bits), f1 = take(integer_bits + 64);
  double fraction;
  if (f0 >> 63) {  // nearer to the next quadrant
    quadrant = (quadrant + 1) & 3;
    const uint64_t n1 = ~f1 + 1, n0 = ~f0 + (n1 == 0 ? 1 : 0);
    fraction = -(std::ldexp(static_cast<double>(n0), -64) + std::ldexp(static_cast<double>(n1), -128));
  } else {
    fraction = std::ldexp(static_cast<double>(f0), -64) + std::ldexp(static_cast<double>(f1), -128);
  }
  return {quadrant, fraction * (kernel::kPiHigh / 2)};
}

Angle reduce(double x) {
  constexpr double kHigh = kernel::kPiHigh / 2, kLow = kernel::kPiLow / 2;
  if (std::fabs(x) < 0x1p20) {
    const double n = std::nearbyint(x * (2.0 / kernel::kPiHigh));
    const double r = std::fma(-n, kLow, std::fma(-n, kHigh, x));  // the inner difference is exact
    return {static_cast<int>(static_cast<int64_t>(n) & 3), r};
  }
  Angle angle = reduce_large(std::fabs(x));
  if (x < 0) angle = {(4 - angle.quadrant) & 3, -angle.r};
  return angle;
}

double cos_reduced(double r) {
  constexpr double kSeries[] = {1.0,
                                -1.0 / 2,
                                1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000};
  return kernel::polynomial(kSeries, r * r);
}

double sine(double x, int quadrants_ahead) {
  if (!std::isfinite(x)) return kernel::kNan;
  const Angle angle = reduce(x);
  const int quadrant = (angle.quadrant + quadrants_ahead) & 3;
  const double value = quadrant & 1 ? cos_reduced(angle.r) : kernel::sin(angle.r);
  return quadrant & 2 ? -value : value;
}

}  // namespace

double exp(double x) { return kernel::exp(x); }
double expm1(double x) {
  if (x > 700) return kernel::exp(x);
  if (x < -50) return -1.0;
  return std::fabs(x) < 0x1p-60 ? x : kernel::expm1(x);
}
double log(double x) {
  if (x > 0 && x < 0x1p-1022) return kernel::log(x * 0x1p54) - 54 * (kernel::kLn2High + kernel::kLn2Low);
  return kernel::log(x);
}
double log1p(double x) {
  const double u = 1.0 + x;
  if (u == 1.0) return x;
  if (!(u > 0) || std::isinf(u)) return log(u);
  return log(u) * (x / (u - 1.0));  // makes up for the rounding of 1 + x
}
double sigmoid(double x) { return kernel::sigmoid(x); }
double tanh(double x) { return std::fabs(x) < 0x1p-60 ? x : kernel::tanh(x); }
double softplus(double x) { return kernel::softplus(x); }
double erf(double x) { return kernel::erf(x); }
double erfc(double x) { return kernel::erfc(x); }
double sin(double x) { return std::fabs(x) < 0x1p-60 ? x : sine(x, 0); }
double cos(double x) { return sine(x, 1); }
double tan(double x) { return std::fabs(x) < 0x1p-60 ? x : sine(x, 0) / sine(x, 1); }
double atan(double x) { return std::fabs(x) < 0x1p-60 ? x : kernel::atan(x); }
double rsqrt(double x) { return 1.0 / std::sqrt(x); }
double cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  double root = kernel::exp(log(std::fabs(x)) / 3.0);
  root -= (root * root * root - std::fabs(x)) / (3.0 * root * root);  // one Newton step
  return std::copysign(root, x);
}
double pow(double x, double y) { return kernel::pow(x, y); }
double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return kernel::kNan;
  const double pi = kernel::kPiHigh;
  if (y == 0) return std::signbit(x) ? std::copysign(pi, y) : y;
  if (x == 0) return std::copysign(pi / 2, y);
  if (std::isinf(x) && std::isinf(y)) return std::copysign(x > 0 ? pi / 4 : 3 * pi / 4, y);
  const double angle = atan(std::fabs(y / x));
  return std::copysign(x > 0 ? angle : pi - angle, y);
}

#define NCC_MATH_FLOAT(name) \
  float name(float x) { return static_cast<float>(name(static_cast<double>(x))); }
NCC_MATH_UNARY(NCC_MATH_FLOAT)
#undef NCC_MATH_FLOAT

float pow(float x, float y) { return static_cast<float>(kernel::pow(x, y)); }
float atan2(float y, float x) {
  return static_cast<float>(atan2(static_cast<double>(y), static_cast<double>(x)));
}
float floor_mod(float x, float y) {
  // The quotient of two floats is an integer or at least 2^-24 away from one, so below 2^28 its double
  // truncates right and the remainder is exact. Beyond, fmod, which is exact by definition and so the same in
  // every library.
  const double quotient = std::trunc(static_cast<double>(x) / static_cast<double>(y));
  const bool is_small = std::fabs(quotient) < 0x1p28 && std::isfinite(y);
  const float r = is_small ? static_cast<float>(std::fma(-quotient, y, x)) : std::fmod(x, y);
  if (r == 0) return std::copysign(r, y);
  return (r < 0) != (y < 0) ? r + y : r;
}

}  // namespace ncc::math
