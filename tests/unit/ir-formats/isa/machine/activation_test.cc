// Activate: functions against the host's long double formulas, ranges, scale and bias, accumulation.
#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

using F = isa::ActivationFunction;
using Real = long double;

Real sigmoid(Real v) { return 1 / (1 + std::exp(-v)); }
Real softplus(Real v) { return std::log1p(std::exp(-std::fabs(v))) + std::max<Real>(v, 0); }
Real normal_cdf(Real v) { return 0.5L * std::erfc(-v * 0.70710678118654752440L); }

struct Case {
  F function;
  std::function<Real(Real)> formula;
  float low, high;  // tested arguments
};

TEST_CASE("activation functions are within 1 ulp of the exact formula", "[machine]") {
  const std::vector<Case> cases = {
      {F::Identity, [](Real v) { return v; }, -1e30f, 1e30f},
      {F::Square, [](Real v) { return v * v; }, -1e10f, 1e10f},
      {F::Relu, [](Real v) { return std::max<Real>(v, 0); }, -9, 9},
      {F::Sigmoid, sigmoid, -80, 80},
      {F::Tanh, [](Real v) { return std::tanh(v); }, -12, 12},
      {F::Exp, [](Real v) { return std::exp(v); }, -87, 88},
      {F::Softplus, softplus, -80, 80},
      {F::Sqrt, [](Real v) { return std::sqrt(v); }, 1e-30f, 1e30f},
      {F::Rsqrt, [](Real v) { return 1 / std::sqrt(v); }, 1e-20f, 1e20f},
      {F::Ln, [](Real v) { return std::log(v); }, 1e-19f, 1e19f},
      {F::Erf, [](Real v) { return std::erf(v); }, -5, 5},
      {F::Sin, [](Real v) { return std::sin(v); }, -3.14159f, 3.14159f},
      {F::Arctan, [](Real v) { return std::atan(v); }, -1.57f, 1.57f},
      {F::Gelu, [](Real v) { return v * normal_cdf(v); }, -9, 9},
      {F::Mish, [](Real v) { return v * std::tanh(softplus(v)); }, -60, 60},
      {F::GeluApprxTanh,
       [](Real v) { return v * sigmoid(2 * 0.79788456080286535588L * (v + 0.044715L * v * v * v)); }, -4, 9},
      {F::GeluApprxSigmoid, [](Real v) { return v * sigmoid(1.702L * v); }, -40, 40},
      {F::Silu, [](Real v) { return v * sigmoid(v); }, -80, 80},
      {F::DerivativeErf, [](Real v) { return 1.1283791670955125739L * std::exp(-v * v); }, -8, 8},
      {F::Reciprocal, [](Real v) { return 1 / v; }, 1e-10f, 1e10f},
      {F::AbsReciprocalSqrt, [](Real v) { return 1 / std::sqrt(std::fabs(v)); }, -1e10f, 1e10f},
  };
  Core core;
  std::mt19937 random(11);
  for (const Case& c : cases) {
    constexpr int64_t kCount = 2000;
    std::vector<float> x(kCount);
    for (float& v : x) v = std::uniform_real_distribution<float>(c.low, c.high)(random);
    core.put(sbuf(Dtype::F32, 1, kCount, 0), x);
    MachineInst inst = make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 1, kCount, 8192),
                            sbuf(Dtype::F32, 1, kCount, 0));
    inst.function = c.function;
    core.run(inst);
    const std::vector<float> got = core.get<float>(inst.out);
    Real worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const Real want = c.formula(x[i]);
      const float nearest = std::fabs(static_cast<float>(want));
      const Real ulp = static_cast<Real>(std::nextafter(nearest, INFINITY)) - static_cast<Real>(nearest);
      worst = std::max(worst, std::fabs(static_cast<Real>(got[i]) - want) / ulp);
    }
    INFO(isa::name(c.function) << " worst error " << static_cast<double>(worst) << " ulp");
    CHECK(worst < 0.6L);
  }
}

TEST_CASE("derivatives agree with differences of the functions", "[machine]") {
  // Tolerance: the difference quotient's own error at a step of 1e-3 is about 1e-6.
  const std::vector<std::pair<F, std::function<double(double)>>> cases = {
      {F::DerivativeSilu, [](double v) { return v / (1 + std::exp(-v)); }},
      {F::DerivativeGelu, [](double v) { return 0.5 * v * std::erfc(-v * 0.7071067811865476); }},
      {F::DerivativeGeluApprxSigmoid, [](double v) { return v / (1 + std::exp(-1.702 * v)); }},
  };
  Core core;
  const std::vector<float> x = {-5, -2, -0.5f, 0, 0.25f, 1, 3, 8};
  core.put(sbuf(Dtype::F32, 1, 8, 0), x);
  for (const auto& [function, formula] : cases) {
    MachineInst inst =
        make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 1, 8, 64), sbuf(Dtype::F32, 1, 8, 0));
    inst.function = function;
    core.run(inst);
    const std::vector<float> got = core.get<float>(inst.out);
    for (size_t i = 0; i < x.size(); ++i)
      CHECK(got[i] == Approx((formula(x[i] + 1e-3) - formula(x[i] - 1e-3)) / 2e-3).margin(2e-6));
  }
}

TEST_CASE("scale and bias come before the function, one value per partition or an immediate", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 2, 2, 0), {1, 2, 3, 4});
  core.put<float>(sbuf(Dtype::F32, 2, 1, 64), {10, 20});
  core.put<float>(sbuf(Dtype::F32, 2, 1, 96), {2, 3});
  MachineInst inst =
      make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 2, 2, 128), sbuf(Dtype::F32, 2, 2, 0));
  inst.scalar0 = pointer(sbuf(Dtype::F32, 2, 1, 64));
  inst.scalar1 = pointer(sbuf(Dtype::F32, 2, 1, 96));
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{12, 14, 29, 32});
  inst.function = F::Prelu;
  inst.scalar0 = Scalar::immediate(-3);
  inst.scalar1 = Scalar::immediate(1);
  inst.scalar2 = Scalar::immediate(0.5f);
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{-1, -0.5f, 0, 1});
}

TEST_CASE("the accumulator sums outputs in fp32 and is read out", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 2, 3, 0), {1, 2, 3, 4, 5, 6});
  MachineInst inst =
      make(Opcode::Activate, Engine::Activation, sbuf(Dtype::BF16, 2, 3, 64), sbuf(Dtype::F32, 2, 3, 0));
  inst.function = F::Square;
  inst.accumulate = isa::AccumulateCommand::ZeroAccumulate;
  core.run(inst);
  core.run(make(Opcode::ActivationReadAccumulator, Engine::Activation, sbuf(Dtype::F32, 2, 1, 128)));
  CHECK(core.get<float>(sbuf(Dtype::F32, 2, 1, 128)) == std::vector<float>{14, 77});
}

TEST_CASE("a finite argument outside the published range is NaN, and an error when checking (N4)",
          "[machine]") {
  for (const bool check : {false, true}) {
    Core core("trn2", check);
    core.put<float>(sbuf(Dtype::F32, 1, 3, 0), {1, 4, INFINITY});
    MachineInst inst =
        make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 1, 3, 64), sbuf(Dtype::F32, 1, 3, 0));
    inst.function = F::Sin;
    if (check) {
      CHECK(core.fails(inst).find("ESIM005") != std::string::npos);
      continue;
    }
    core.run(inst);
    const std::vector<float> got = core.get<float>(inst.out);
    CHECK(got[0] == std::sin(1.0f));
    CHECK((std::isnan(got[1]) && std::isnan(got[2])));
  }
}

TEST_CASE("special values pass through the hard-wired functions as in XLA", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 4, 0), {NAN, -0.0f, INFINITY, -2});
  auto run = [&](F function) {
    MachineInst inst =
        make(Opcode::Activate, Engine::Activation, sbuf(Dtype::F32, 1, 4, 64), sbuf(Dtype::F32, 1, 4, 0));
    inst.function = function;
    core.run(inst);
    return core.get<float>(inst.out);
  };
  CHECK(run(F::IsFinite) == std::vector<float>{0, 1, 0, 1});
  const std::vector<float> sign = run(F::Sign);
  CHECK((std::isnan(sign[0]) && std::signbit(sign[1]) && sign[2] == 1 && sign[3] == -1));
  const std::vector<float> identity = run(F::Identity);
  CHECK((std::isnan(identity[0]) && std::signbit(identity[1])));
  const std::vector<float> exponential = run(F::Exp);
  CHECK((std::isnan(exponential[0]) && exponential[2] == INFINITY));
}

}  // namespace
}  // namespace ncc::machine
