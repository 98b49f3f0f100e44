#include "ir-formats/hlo/interpreter/xla_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ncc::hlo {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// ln 2 as a sum of two floats; the first has few bits, so that its multiples by small integers are exact.
constexpr float kLn2High = 0x1.63p-1F, kLn2Low = -0x1.bd0106p-13F;

// c[0] + x (c[1] + x (c[2] + …)), fused.
template <size_t n>
float polynomial(const float (&c)[n], float x) {
  float sum = c[n - 1];
  for (size_t i = n - 1; i-- > 0;) sum = std::fma(sum, x, c[i]);
  return sum;
}

}  // namespace

float xla_exp(float x) {
  constexpr float kSmallest = -87.8F, kLargest = 88.8F, kLog2E = 0x1.715476p+0F;
  constexpr float kSeries[] = {0.5F,          0x1.555554p-3F,  0x1.555382p-5F,
                               0x1.11121p-7F, 0x1.6e879cp-10F, 0x1.a0d2cep-13F};
  if (x != x) return x;
  x = std::clamp(x, kSmallest, kLargest);
  const float n = std::clamp(std::floor(std::fma(x, kLog2E, 0.5F)), -127.0F, 127.0F);
  const float r = std::fma(-kLn2Low, n, std::fma(-kLn2High, n, x));
  const float y = 1 + std::fma(polynomial(kSeries, r), r * r, r);
  return y * std::bit_cast<float>(static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23);
}

float xla_log(float x) {
  if (x != x || x < 0) return std::numeric_limits<float>::quiet_NaN();
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  const uint32_t bits = std::bit_cast<uint32_t>(std::max(x, std::numeric_limits<float>::min()));
  float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 126);
  float m = std::bit_cast<float>((bits & 0x007FFFFFU) | 0x3F000000U);  // in [1/2, 1)
  constexpr float kSqrtHalf = 0x1.6a09e6p-1F;
  if (m < kSqrtHalf) {
    exponent -= 1;
    m = (m - 1) + m;
  } else {
    m -= 1;
  }
  // log(1 + m) = m - m^2/2 + m^3 (three quadratics, joined by powers of m^3).
  constexpr float kLow[] = {0x1.555554p-2F, -0x1.fffff8p-3F, 0x1.999d58p-3F};
  constexpr float kMiddle[] = {-0x1.555cap-3F, 0x1.23d37ep-3F, -0x1.fcba9ep-4F};
  constexpr float kHigh[] = {0x1.de4a34p-4F, -0x1.d7a37p-4F, 0x1.204376p-4F};
  const float square = m * m, cube = square * m;
  float y = std::fma(polynomial(kHigh, m), cube, polynomial(kMiddle, m));
  y = std::fma(y, cube, polynomial(kLow, m));
  const float tail = std::fma(y, cube, kLn2Low * exponent);
  return std::fma(kLn2High, exponent, std::fma(-0.5F, square, m) + tail);
}

std::complex<float> xla_power(std::complex<float> base, std::complex<float> exponent) {
  const float a = base.real(), b = base.imag(), c = exponent.real(), d = exponent.imag();
  const float larger = std::max(std::fabs(a), std::fabs(b)), smaller = std::min(std::fabs(a), std::fabs(b));
  const float ratio = smaller / larger;
  float magnitude = larger * std::sqrt(std::fma(ratio, ratio, 1.0F));
  if (magnitude != magnitude) magnitude = smaller;  // 0 / 0
  if ((c == 0 && d == 0) || (a == 1 && b == 0)) return {1, 0};
  if (magnitude == 0 && d == 0 && c > 0) return {0, 0};
  if (a == kInfinity && b == 0 && d == 0)
    return c > 0 ? std::complex<float>{kInfinity, 0} : std::complex<float>{0, 0};
  const float angle = std::atan2(b, a);
  const float scale = std::pow(magnitude, c) * xla_exp(-d * angle);
  const float turn = std::fma(c, angle, d * xla_log(magnitude));
  return {scale * static_cast<float>(std::cos(static_cast<double>(turn))),
          scale * static_cast<float>(std::sin(static_cast<double>(turn)))};
}

}  // namespace ncc::hlo
