// Instructions with a running state per partition: TensorTensorScan, TensorScalarCacheReduce and the
// accumulator read-outs. Source: spec/simulator-numerics.md §3.2, §3.4; spec/isa.md §3.3.
#include "ir-formats/isa/machine/alu.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::AccumulateCommand;
using isa::AluOp;
using isa::MachineInst;

namespace {

// state = op1(op0(state, a), b) along the row; the common pairs run without a switch per step.
void scan_row(AluOp op0, AluOp op1, float initial, const float* a, const float* b, float* out, int64_t n) {
  float state = initial;
  if (op0 == AluOp::Mult && op1 == AluOp::Add) {
    for (int64_t i = 0; i < n; ++i) out[i] = state = state * a[i] + b[i];
  } else if (op0 == AluOp::Add && op1 == AluOp::Add) {
    for (int64_t i = 0; i < n; ++i) out[i] = state = state + a[i] + b[i];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = state = alu(op1, alu(op0, state, a[i]), b[i]);
  }
}

}  // namespace

Status execute_scan(State& state, const MachineInst& inst) {
  for (AluOp op : {inst.op0, inst.op1})
    if (!is_arithmetic(op)) return illegal("ALU op '{}' in a scan", isa::name(op));
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  if (!inst.in1.present()) return illegal("in1 is missing");
  ScalarValues initial;
  NCC_TRY(resolve_scalar(state, inst, inst.scalar0, o.out.partitions, "scalar0", initial));
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const float* a = row_as_f32(o.in0, p, scratch_row(0, n));
      const float* b = row_as_f32(o.in1, p, scratch_row(1, n));
      float* out = begin_row(o.out, p, scratch_row(2, n), a, b);
      scan_row(inst.op0, inst.op1, initial.value[static_cast<size_t>(p)], a, b, out, n);
      finish_row(o.out, p, out);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_cache_reduce(State& state, const MachineInst& inst) {
  for (AluOp op : {inst.op0, inst.op1})
    if (!is_arithmetic(op)) return illegal("ALU op '{}' in a fused reduction", isa::name(op));
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  ScalarValues s0{}, seed{};
  if (isa::info(inst.op0).arity == 2)
    NCC_TRY(resolve_scalar(state, inst, inst.scalar0, o.out.partitions, "scalar0", s0));
  if (inst.accumulate == AccumulateCommand::LoadAccumulate)
    NCC_TRY(resolve_scalar(state, inst, inst.scalar1, o.out.partitions, "scalar1", seed));
  const bool accumulates =
      inst.accumulate != AccumulateCommand::Idle && inst.accumulate != AccumulateCommand::Zero;
  const bool resets = accumulates && inst.accumulate != AccumulateCommand::AddAccumulate &&
                      inst.accumulate != AccumulateCommand::Accumulate;
  const int64_t n = o.out.elements;
  for (int p = 0; p < o.out.partitions; ++p) {
    const size_t i = static_cast<size_t>(p);
    const float* in = row_as_f32(o.in0, p, scratch_row(0, n));
    float* out = begin_row(o.out, p, scratch_row(1, n), in);
    alu_row_scalar(inst.op0, in, s0.value[i], (inst.reverse & 1) != 0, out, n);
    float& sum = state.dve_accumulator[i];
    if (inst.accumulate == AccumulateCommand::Zero) sum = 0;
    if (resets) sum = seed.value[i];
    if (accumulates) {
      float running = sum;
      if (inst.op1 == AluOp::Add)
        for (int64_t k = 0; k < n; ++k) running += out[k];
      else
        for (int64_t k = 0; k < n; ++k) running = alu(inst.op1, running, out[k]);
      sum = running;
    }
    finish_row(o.out, p, out);
  }
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_read_accumulator(State& state, const MachineInst& inst) {
  View out;
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", out));
  if (out.elements != 1)
    return illegal("out has {} elements per partition, an accumulator has one", out.elements);
  const auto& accumulator =
      inst.opcode == isa::Opcode::DveReadAccumulator ? state.dve_accumulator : state.activation_accumulator;
  for (int p = 0; p < out.partitions; ++p) {
    const float value = accumulator[static_cast<size_t>(p)];
    const float result = inst.negate ? -value : value;
    store_row(out, p, &result);
  }
  state.mark_written(out);
  return Status::ok();
}

}  // namespace ncc::machine
