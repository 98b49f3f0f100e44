// Reductions along the free axes and across partitions. Every result is a left fold from its first element,
// so the order of additions is fixed. Source: spec/simulator-numerics.md §3.4.
#include <algorithm>
#include <cstring>

#include "ir-formats/isa/machine/alu.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::AluOp;
using isa::Axis;
using isa::MachineInst;
using isa::Opcode;

namespace {

// Rows folded side by side: independent chains hide the latency of an addition.
constexpr int kGroup = 8;

template <class Op>
void fold_group(const float* const* rows, int count, int64_t groups, int64_t length, float* const* out,
                Op op) {
  for (int64_t g = 0; g < groups; ++g) {
    float acc[kGroup];
    for (int r = 0; r < count; ++r) acc[r] = rows[r][g * length];
    if (count == kGroup) {
      for (int64_t i = 1; i < length; ++i)
        for (int r = 0; r < kGroup; ++r) acc[r] = op(acc[r], rows[r][g * length + i]);
    } else {
      for (int r = 0; r < count; ++r)
        for (int64_t i = 1; i < length; ++i) acc[r] = op(acc[r], rows[r][g * length + i]);
    }
    for (int r = 0; r < count; ++r) out[r][g] = acc[r];
  }
}

void fold_rows(AluOp op, const float* const* rows, int count, int64_t groups, int64_t length,
               float* const* out) {
  if (op == AluOp::Add)
    fold_group(rows, count, groups, length, out, [](float a, float b) { return a + b; });
  else if (op == AluOp::Mult)
    fold_group(rows, count, groups, length, out, [](float a, float b) { return a * b; });
  else
    fold_group(rows, count, groups, length, out, [op](float a, float b) { return alu(op, a, b); });
}

// max and min are associative and commutative with N2's total order of zeros (NaN payloads aside), so they
// fold in vectors.
template <class Op>
void fold_extreme(const float* row, int64_t groups, int64_t length, float* out, Op op) {
  constexpr int64_t kLanes = 16;
  for (int64_t g = 0; g < groups; ++g) {
    const float* in = row + g * length;
    float acc = in[0];
    int64_t i = 1;
    if (length >= 2 * kLanes) {
      float lanes[kLanes];
      std::copy(in, in + kLanes, lanes);
      for (i = kLanes; i + kLanes <= length; i += kLanes)
        for (int64_t k = 0; k < kLanes; ++k) lanes[k] = op(lanes[k], in[i + k]);
      acc = lanes[0];
      for (int64_t k = 1; k < kLanes; ++k) acc = op(acc, lanes[k]);
    }
    for (; i < length; ++i) acc = op(acc, in[i]);
    out[g] = acc;
  }
}

// Elements folded into one result: the product of the innermost dims the axis names, as the access gives
// them.
int64_t folded_length(const isa::Access& access, Axis axis) {
  const int folded = isa::folded_dims(axis);
  int64_t length = 1;
  for (int i = std::max(0, access.rank - folded); i < access.rank; ++i) length *= access.dims[i].count;
  return length;
}

struct Reduction {
  View in, out;
  int64_t groups, length;
};

Status resolve_reduction(State& state, const MachineInst& inst, Reduction& r) {
  NCC_TRY(resolve_data(state, inst.in0, State::Use::Read, "in0", r.in));
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", r.out));
  r.length = folded_length(inst.in0, inst.axis);
  r.groups = r.in.elements / r.length;
  if (r.out.partitions != r.in.partitions || r.out.elements != r.groups)
    return illegal("in0 of {} partitions x {} elements reduces to {} x {}, out is {} x {}", r.in.partitions,
                   r.in.elements, r.in.partitions, r.groups, r.out.partitions, r.out.elements);
  return Status::ok();
}

void reduce_arith(const MachineInst& inst, const Reduction& r, int begin, int end) {
  float* in = scratch_row(0, r.in.elements * kGroup);
  float* out = scratch_row(1, r.groups * kGroup);
  for (int p = begin; p < end; p += kGroup) {
    const int count = std::min(kGroup, end - p);
    const float* rows[kGroup];
    float* results[kGroup];
    for (int k = 0; k < count; ++k) {
      rows[k] = row_as_f32(r.in, p + k, in + k * r.in.elements);
      results[k] = out + k * r.groups;
    }
    if (inst.op0 == AluOp::Max)
      for (int k = 0; k < count; ++k) fold_extreme(rows[k], r.groups, r.length, results[k], maximum);
    else if (inst.op0 == AluOp::Min)
      for (int k = 0; k < count; ++k) fold_extreme(rows[k], r.groups, r.length, results[k], minimum);
    else
      fold_rows(inst.op0, rows, count, r.groups, r.length, results);
    for (int k = 0; k < count; ++k) {
      if (inst.negate)
        for (int64_t g = 0; g < r.groups; ++g) results[k][g] = -results[k][g];
      store_row(r.out, p + k, results[k]);
    }
  }
}

void reduce_bits(const MachineInst& inst, const Reduction& r, int begin, int end) {
  for (int p = begin; p < end; ++p) {
    uint32_t *in = scratch_bits(0, r.in.elements), *out = scratch_bits(1, r.groups);
    load_row_bits(r.in, p, false, in);
    for (int64_t g = 0; g < r.groups; ++g) {
      uint32_t acc = in[g * r.length];
      for (int64_t i = 1; i < r.length; ++i) acc = bits_alu(inst.op0, acc, in[g * r.length + i]);
      out[g] = acc;
    }
    store_row_bits(r.out, p, out);
  }
}

bool is_fold(AluOp op, bool bitvec) {
  if (isa::info(op).arity != 2) return false;
  if (bitvec) return op == AluOp::BitwiseAnd || op == AluOp::BitwiseOr || op == AluOp::BitwiseXor;
  return is_arithmetic(op);
}

}  // namespace

Status execute_reduce(State& state, const MachineInst& inst) {
  const bool bitvec = inst.opcode == Opcode::TensorReduceBitvec;
  if (!is_fold(inst.op0, bitvec)) return illegal("ALU op '{}' as a reduction", isa::name(inst.op0));
  if (isa::folded_dims(inst.axis) == 0 || inst.axis == Axis::XYZWC)
    return illegal("axis {} in a free-axis reduction", isa::name(inst.axis));
  if (bitvec && inst.negate) return illegal("negate in a bit-vector reduction");
  Reduction r;
  NCC_TRY(resolve_reduction(state, inst, r));
  state.for_partitions(r.in.partitions, r.in.elements * r.in.partitions, [&](int begin, int end) {
    bitvec ? reduce_bits(inst, r, begin, end) : reduce_arith(inst, r, begin, end);
  });
  state.mark_written(r.out);
  return Status::ok();
}

Status execute_cross_lane_reduce(State& state, const MachineInst& inst) {
  const bool bitvec = inst.opcode == Opcode::CrossLaneReduceBitvec;
  const bool average = inst.op0 == AluOp::Average && !bitvec;
  if (!average && !is_fold(inst.op0, bitvec))
    return illegal("ALU op '{}' across partitions", isa::name(inst.op0));
  if (inst.axis != Axis::C && inst.axis != Axis::XYZWC)
    return illegal("axis {} across partitions", isa::name(inst.axis));
  View in, out;
  NCC_TRY(resolve_data(state, inst.in0, State::Use::Read, "in0", in));
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", out));
  const bool fold_free = inst.axis == Axis::XYZWC;
  if (out.partitions != 1 || out.elements != (fold_free ? 1 : in.elements))
    return illegal("out is {} partitions x {} elements, expected 1 x {}", out.partitions, out.elements,
                   fold_free ? 1 : in.elements);
  const int64_t n = in.elements;
  const AluOp op = average ? AluOp::Add : inst.op0;
  if (bitvec) {
    uint32_t *acc = scratch_bits(0, n), *row = scratch_bits(1, n);
    load_row_bits(in, 0, false, acc);
    for (int p = 1; p < in.partitions; ++p) {
      load_row_bits(in, p, false, row);
      bits_rows(op, acc, row, acc, n);
    }
    if (fold_free)
      for (int64_t i = 1; i < n; ++i) acc[0] = bits_alu(op, acc[0], acc[i]);
    store_row_bits(out, 0, acc);
  } else {
    float *acc = scratch_row(0, n), *scratch = scratch_row(1, n);
    load_row(in, 0, acc);
    for (int p = 1; p < in.partitions; ++p) alu_rows(op, acc, row_as_f32(in, p, scratch), acc, n);
    if (fold_free)
      for (int64_t i = 1; i < n; ++i) acc[0] = alu(op, acc[0], acc[i]);
    const auto folded = static_cast<float>(in.partitions * (fold_free ? n : 1));
    if (average) alu_row_scalar(AluOp::Mult, acc, 1.0f / folded, false, acc, out.elements);
    store_row(out, 0, acc);
  }
  state.mark_written(out);
  return Status::ok();
}

}  // namespace ncc::machine
