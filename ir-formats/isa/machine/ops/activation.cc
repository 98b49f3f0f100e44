// Activate: out = f(in0 * scale + bias), optionally summed per partition. Functions are exact formulas in
// fp64, rounded once (common/math); a finite argument outside the published range gives NaN, and ESIM005 in
// checking mode. Source: spec/simulator-numerics.md §3.2, §6.1; spec/arch.md §4.4; DESIGN section 14, N4.
#include <atomic>
#include <bit>
#include <cmath>

#include "common/math/kernels.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::AccumulateCommand;
using isa::ActivationFunction;
using isa::MachineInst;

namespace {

namespace k = math::kernel;

template <class F>
void map_row(const float* in, float* out, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(static_cast<double>(in[i])));
}
template <class F>
void map_row_f32(const float* in, float* out, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}

float absolute(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7FFFFFFF); }

void apply(ActivationFunction function, float alpha, const float* in, float* out, int64_t n) {
  using F = ActivationFunction;
  switch (function) {
    case F::Identity:
    case F::Copy:
      return map_row_f32(in, out, n, [](float v) { return v; });
    case F::Square:
      return map_row_f32(in, out, n, [](float v) { return v * v; });
    case F::Relu:
      return map_row_f32(in, out, n, [](float v) { return v <= 0 ? 0.0f : v; });  // NaN passes
    case F::Lrelu:
      return map_row_f32(in, out, n, [](float v) { return v <= 0 ? 0.01f * v : v; });
    case F::Prelu:
      return map_row_f32(in, out, n, [alpha](float v) { return v <= 0 ? alpha * v : v; });
    case F::Sign:  // zeros and NaN stay
      return map_row_f32(in, out, n, [](float v) { return v > 0 ? 1.0f : v < 0 ? -1.0f : v; });
    case F::Abs:
      return map_row_f32(in, out, n, absolute);
    case F::IsFinite:
      return map_row_f32(in, out, n, [](float v) { return absolute(v) < INFINITY ? 1.0f : 0.0f; });
    case F::Sigmoid:
      return map_row(in, out, n, k::sigmoid);
    case F::Tanh:
      return map_row(in, out, n, k::tanh);
    case F::Exp:
      return map_row(in, out, n, k::exp);
    case F::Softplus:
      return map_row(in, out, n, k::softplus);
    case F::Sqrt:
      return map_row(in, out, n, [](double v) { return std::sqrt(v); });
    case F::Rsqrt:
      return map_row(in, out, n, [](double v) { return 1.0 / std::sqrt(v); });
    case F::AbsReciprocalSqrt:
      return map_row(in, out, n, [](double v) { return 1.0 / std::sqrt(k::abs(v)); });
    case F::Reciprocal:
      return map_row(in, out, n, [](double v) { return 1.0 / v; });
    case F::Ln:
      return map_row(in, out, n, k::log);
    case F::Erf:
      return map_row(in, out, n, k::erf);
    case F::Sin:
      return map_row(in, out, n, k::sin);
    case F::Arctan:
      return map_row(in, out, n, k::atan);
    case F::Gelu:
      return map_row(in, out, n, k::gelu);
    case F::GeluApprxTanh:
      return map_row(in, out, n, k::gelu_tanh);
    case F::GeluApprxSigmoid:
      return map_row(in, out, n, k::gelu_sigmoid);
    case F::Mish:
      return map_row(in, out, n, k::mish);
    case F::Silu:
      return map_row(in, out, n, k::silu);
    case F::DerivativeSilu:
      return map_row(in, out, n, k::silu_derivative);
    case F::DerivativeGelu:
      return map_row(in, out, n, k::gelu_derivative);
    case F::DerivativeGeluApprxSigmoid:  // u = 1.702 v: d/du u sigmoid(u), as published without the
                                         // factor 1.702
      return map_row(in, out, n, [](double v) { return k::silu_derivative(1.702 * v); });
    case F::DerivativeErf:
      return map_row(in, out, n, k::erf_derivative);
  }
}

// Sets results of finite arguments outside [low, high] to NaN; counts them.
int64_t apply_range(ActivationFunction function, const float* in, float* out, int64_t n) {
  const isa::ActivationInfo& row = isa::info(function);
  if (row.low == row.high) return 0;
  const auto low = static_cast<float>(row.low), high = static_cast<float>(row.high);
  const bool of_magnitude = function == ActivationFunction::Reciprocal;
  int64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float x = of_magnitude ? absolute(in[i]) : in[i];
    const bool beyond = (x < low || x > high) && absolute(x) < INFINITY;
    outside += beyond;
    out[i] = beyond ? std::numeric_limits<float>::quiet_NaN() : out[i];
  }
  return outside;
}

struct ActivateOperands {
  Operands data;
  ScalarValues bias, scale, third;  // third: alpha (Prelu) or the accumulator's seed
};

Status resolve_activate(State& state, const MachineInst& inst, ActivateOperands& o) {
  NCC_TRY(resolve_elementwise(state, inst, o.data));
  const int partitions = o.data.out.partitions;
  o.bias.value.fill(-0.0f);
  o.scale.value.fill(1.0f);
  o.third.value.fill(0.0f);
  if (inst.scalar0.present()) NCC_TRY(resolve_scalar(state, inst, inst.scalar0, partitions, "bias", o.bias));
  if (inst.scalar1.present())
    NCC_TRY(resolve_scalar(state, inst, inst.scalar1, partitions, "scale", o.scale));
  const bool needs_third =
      inst.function == ActivationFunction::Prelu || inst.accumulate == AccumulateCommand::LoadAccumulate;
  if (needs_third) NCC_TRY(resolve_scalar(state, inst, inst.scalar2, partitions, "alpha", o.third));
  return Status::ok();
}

void accumulate_row(AccumulateCommand command, float seed, const float* row, int64_t n, float& sum) {
  switch (command) {
    case AccumulateCommand::Idle:
      return;
    case AccumulateCommand::Zero:
      sum = 0;
      return;
    case AccumulateCommand::ZeroAccumulate:
      sum = 0;
      break;
    case AccumulateCommand::LoadAccumulate:
      sum = seed;
      break;
    case AccumulateCommand::Accumulate:
    case AccumulateCommand::AddAccumulate:
      break;
  }
  float running = sum;
  for (int64_t i = 0; i < n; ++i) running += row[i];
  sum = running;
}

}  // namespace

Status execute_activate(State& state, const MachineInst& inst) {
  ActivateOperands o;
  NCC_TRY(resolve_activate(state, inst, o));
  const View &in = o.data.in0, &out = o.data.out;
  const int64_t n = out.elements;
  std::atomic<int64_t> outside = 0;
  std::atomic<int> bad_partition = -1;
  state.for_partitions(out.partitions, n * out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const size_t i = static_cast<size_t>(p);
      const float* x = row_as_f32(in, p, scratch_row(0, n));
      float* argument = scratch_row(1, n);
      const float scale = o.scale.value[i], bias = o.bias.value[i];
      for (int64_t e = 0; e < n; ++e) argument[e] = std::fma(x[e], scale, bias);
      float* result = begin_row(out, p, scratch_row(2, n), nullptr);
      apply(inst.function, o.third.value[i], argument, result, n);
      if (const int64_t count = apply_range(inst.function, argument, result, n); count > 0) {
        outside += count;
        bad_partition = p;
      }
      accumulate_row(inst.accumulate, o.third.value[i], result, n, state.activation_accumulator[i]);
      finish_row(out, p, result);
    }
  });
  state.mark_written(out);
  if (state.check && outside > 0) {
    const isa::ActivationInfo& row = isa::info(inst.function);
    return error(
        Code::ESIM005,
        fmt::format("{} of {} elements outside [{:g}, {:g}] of {}, one in partition {}", outside.load(),
                    n * out.partitions, row.low, row.high, row.name, bad_partition.load()));
  }
  return Status::ok();
}

}  // namespace ncc::machine
