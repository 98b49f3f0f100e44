#include "ir-formats/hlo/interpreter/fft_line.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

using ncc::hlo::FftLine;
using ncc::hlo::Point;

namespace {

std::vector<Point<double>> direct_sum(const std::vector<Point<double>>& x, bool forward) {
  const size_t n = x.size();
  std::vector<Point<double>> y(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) {
      const double angle =
          (forward ? -2 : 2) * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      y[k].re += x[j].re * std::cos(angle) - x[j].im * std::sin(angle);
      y[k].im += x[j].re * std::sin(angle) + x[j].im * std::cos(angle);
    }
  }
  return y;
}

// Some numbers without a pattern.
std::vector<Point<double>> sample(size_t n) {
  std::vector<Point<double>> x(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = {std::sin(3.7 * static_cast<double>(i + 1)), std::cos(2.3 * static_cast<double>(i * i))};
  return x;
}

double distance(Point<double> a, Point<double> b) { return std::hypot(a.re - b.re, a.im - b.im); }

}  // namespace

TEST_CASE("complex transforms of every length are the direct sum", "[interpreter]") {
  for (size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24, 30, 32, 49, 60, 64}) {
    for (bool forward : {true, false}) {
      std::vector<Point<double>> line = sample(n);
      const auto expected = direct_sum(line, forward);
      FftLine<double>(static_cast<int64_t>(n)).complex(line.data(), forward);
      for (size_t k = 0; k < n; ++k) CHECK(distance(line[k], expected[k]) < 1e-12);
    }
  }
}

TEST_CASE("real transforms are half of the complex ones, and invert", "[interpreter]") {
  for (size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 24, 32, 33, 60, 64}) {
    std::vector<Point<double>> line = sample(n), spectrum(n / 2 + 1);
    std::vector<double> reals(n), back(n);
    for (size_t i = 0; i < n; ++i) {
      line[i].im = 0;
      reals[i] = line[i].re;
    }
    const FftLine<double> plan(static_cast<int64_t>(n));
    plan.real_forward(reals.data(), spectrum.data());
    const auto expected = direct_sum(line, true);
    for (size_t k = 0; k < spectrum.size(); ++k) CHECK(distance(spectrum[k], expected[k]) < 1e-12);
    plan.real_backward(spectrum.data(), back.data());
    for (size_t i = 0; i < n; ++i) CHECK(back[i] / static_cast<double>(n) == Approx(reals[i]).margin(1e-13));
  }
}

// An eighth turn has two components that differ in the last place; a fused product would give other bits.
TEST_CASE("no product of a transform is fused with its sum", "[interpreter]") {
  const FftLine<double> plan(8);
  const std::vector<double> reals = {0.1, 0.7, 0.3, 0.9, 0.2, 0.4, 0.8, 0.6};
  std::vector<Point<double>> spectrum(5);
  plan.real_forward(reals.data(), spectrum.data());
  const double even = reals[0] - reals[4], a = reals[1] - reals[5], b = -(reals[3] - reals[7]);
  const volatile double first = std::sin(std::numbers::pi / 4) * a,
                        second = std::cos(std::numbers::pi / 4) * b;
  CHECK(spectrum[1].re == even + (first + second));
}
