// Deterministic math against long double libm: fp32 results within 1 ulp, fp64 within the stated relative
// error.
#include "common/math/math.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace ncc {
namespace {

double ulp_error(float got, long double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : 1e9;
  const float nearest = static_cast<float>(want);
  if (got == nearest) return 0;
  if (std::isinf(got) || std::isinf(nearest)) return 1e9;
  const float next = std::nextafter(std::fabs(nearest), INFINITY);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             static_cast<long double>(next - std::fabs(nearest)));
}

template <class F, class G>
void check_function(const char* name, F function, G reference, float low, float high) {
  std::mt19937 random(7);
  double worst = 0, worst64 = 0;
  float worst_at = 0;
  for (int i = 0; i < 200000; ++i) {
    float x;
    if (i % 2 == 0) {
      x = std::uniform_real_distribution<float>(low, high)(random);
    } else {  // every magnitude
      x = std::ldexp(std::uniform_real_distribution<float>(1, 2)(random),
                     std::uniform_int_distribution<int>(-140, 6)(random));
      if (random() & 1) x = -x;
      if (x < low || x > high) continue;
    }
    const long double want = reference(static_cast<long double>(x));
    const double error = ulp_error(static_cast<float>(function(static_cast<float>(x))), want);
    if (error > worst) worst = error, worst_at = x;
    if (want != 0 && std::isfinite(want) && std::fabs(want) > 1e-290L)
      worst64 =
          std::max(worst64, static_cast<double>(std::fabs((function(static_cast<double>(x)) - want) / want)));
  }
  INFO(name << " worst ulp " << worst << " at " << worst_at << ", fp64 relative " << worst64);
  CHECK(worst <= 0.51);
  CHECK(worst64 < 1e-13);
}

#define CHECK_FUNCTION(name, reference, low, high)                                                         \
  check_function(                                                                                          \
      #name, [](auto x) { return math::name(x); }, [](long double x) -> long double { return reference; }, \
      low, high)

TEST_CASE("fp32 elementary functions are the rounding of an accurate fp64 value", "[math]") {
  CHECK_FUNCTION(exp, std::exp(x), -110.f, 90.f);
  CHECK_FUNCTION(expm1, std::expm1(x), -110.f, 90.f);
  CHECK_FUNCTION(log, std::log(x), 0.f, 1e30f);
  CHECK_FUNCTION(log1p, std::log1p(x), -1.f, 1e30f);
  CHECK_FUNCTION(tanh, std::tanh(x), -20.f, 20.f);
  CHECK_FUNCTION(sigmoid, 1 / (1 + std::exp(-x)), -100.f, 100.f);
  CHECK_FUNCTION(softplus, std::log1p(std::exp(-std::fabs(x))) + std::max(x, 0.0L), -80.f, 80.f);
  CHECK_FUNCTION(erf, std::erf(x), -6.f, 6.f);
  CHECK_FUNCTION(erfc, std::erfc(x), -6.f, 9.f);
  CHECK_FUNCTION(atan, std::atan(x), -1e6f, 1e6f);
  CHECK_FUNCTION(sin, std::sin(x), -1e5f, 1e5f);
  CHECK_FUNCTION(cos, std::cos(x), -1e5f, 1e5f);
  CHECK_FUNCTION(sin, std::sin(x), -1e18f, 1e18f);
  CHECK_FUNCTION(tan, std::tan(x), -1e4f, 1e4f);
  CHECK_FUNCTION(rsqrt, 1 / std::sqrt(x), 0.f, 1e30f);
  CHECK_FUNCTION(cbrt, std::cbrt(x), -1e30f, 1e30f);
}

TEST_CASE("large angles are reduced exactly", "[math]") {
  CHECK(ulp_error(math::sin(1e30f), std::sin(static_cast<long double>(1e30f))) <= 0.51);
  CHECK(ulp_error(math::cos(3.4e38f), std::cos(static_cast<long double>(3.4e38f))) <= 0.51);
  CHECK(std::fabs(math::sin(1e22) - -0.8522008497671888) < 1e-13);
}

TEST_CASE("special arguments follow IEEE 754", "[math]") {
  const float inf = INFINITY;
  CHECK(math::exp(-inf) == 0);
  CHECK(math::exp(inf) == inf);
  CHECK(math::log(0.f) == -inf);
  CHECK(math::log(inf) == inf);
  CHECK(std::isnan(math::log(-1.f)));
  CHECK(math::tanh(inf) == 1);
  CHECK(math::tanh(-inf) == -1);
  CHECK(std::signbit(math::tanh(-0.f)));
  CHECK(std::signbit(math::erf(-0.f)));
  CHECK(std::signbit(math::atan(-0.f)));
  CHECK(math::erf(inf) == 1);
  CHECK(math::erfc(-inf) == 2);
  CHECK(math::softplus(inf) == inf);
  CHECK(math::softplus(-inf) == 0);
  CHECK(math::exp(-100.f) == static_cast<float>(std::exp(-100.0L)));  // subnormal
  for (float value :
       {math::exp(NAN), math::tanh(NAN), math::erf(NAN), math::sin(NAN), math::log(NAN), math::atan(NAN)})
    CHECK(std::isnan(value));
}

TEST_CASE("pow follows IEEE 754 and is within 1 ulp", "[math]") {
  std::mt19937 random(3);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const float x = std::uniform_real_distribution<float>(0, 30)(random);
    const float y = std::uniform_real_distribution<float>(-20, 20)(random);
    worst = std::max(worst, ulp_error(math::pow(x, y), std::pow(static_cast<long double>(x), y)));
  }
  CHECK(worst <= 0.51);
  for (float x : {-2.f, -1.f, -0.f, 0.f, 0.5f, 1.f, 3.f, -INFINITY, INFINITY, NAN})
    for (float y : {-3.f, -2.f, -0.5f, -0.f, 0.f, 0.5f, 1.f, 2.f, 3.f, -INFINITY, INFINITY, NAN}) {
      INFO(x << " ^ " << y);
      const float want = std::pow(x, y), got = math::pow(x, y);
      CHECK((std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want)));
    }
}

TEST_CASE("floor_mod takes the sign of the divisor", "[math]") {
  CHECK(math::floor_mod(5.f, 3.f) == 2);
  CHECK(math::floor_mod(-5.f, 3.f) == 1);
  CHECK(math::floor_mod(5.f, -3.f) == -1);
  CHECK(math::floor_mod(-6.f, 3.f) == 0);
  CHECK(std::isnan(math::floor_mod(1.f, 0.f)));
  CHECK(math::floor_mod(5.f, INFINITY) == 5);
  CHECK(math::floor_mod(1e30f, 7.f) == std::fmod(1e30f, 7.f));
  std::mt19937 random(9);
  for (int i = 0; i < 100000; ++i) {
    const float x =
        std::ldexp(std::uniform_real_distribution<float>(1, 2)(random), static_cast<int>(random() % 60));
    const float y =
        std::ldexp(std::uniform_real_distribution<float>(1, 2)(random), static_cast<int>(random() % 60));
    REQUIRE(math::floor_mod(x, y) == std::fmod(x, y));
  }
}

TEST_CASE("atan2 covers the quadrants", "[math]") {
  for (float y : {-2.f, -0.f, 0.f, 3.f, INFINITY, -INFINITY})
    for (float x : {-2.f, -0.f, 0.f, 3.f, INFINITY, -INFINITY})
      CHECK(math::atan2(y, x) == Approx(std::atan2(y, x)).epsilon(1e-6));
}

}  // namespace
}  // namespace ncc
