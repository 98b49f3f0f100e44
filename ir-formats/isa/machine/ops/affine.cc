// Iota and TensorScalarAffineSelect: instructions over an affine function of the element's position.
// The partition term counts partitions of the access from 0, so an allocation may place it in any quadrant
// (docs/decisions.md). Source: spec/simulator-numerics.md §3.3, §3.6.
#include <cstring>

#include "ir-formats/isa/machine/alu.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::MachineInst;

namespace {

// The affine values of one row without base and partition term, modulo 2^32.
Status pattern_values(const MachineInst& inst, int64_t elements, uint32_t* values) {
  int64_t count = 1;
  for (int i = 0; i < inst.pattern_rank; ++i) count *= inst.pattern[static_cast<size_t>(i)].count;
  if (count != elements)
    return illegal("the pattern has {} elements per partition, out has {}", count, elements);
  values[0] = 0;
  int64_t filled = 1;
  for (int i = inst.pattern_rank - 1; i >= 0; --i) {  // each outer dim repeats what is there, shifted
    const isa::Dim dim = inst.pattern[static_cast<size_t>(i)];
    for (int64_t k = 1; k < dim.count; ++k) {
      const auto shift = static_cast<uint32_t>(dim.step * k);
      for (int64_t j = 0; j < filled; ++j) values[k * filled + j] = values[j] + shift;
    }
    filled *= dim.count;
  }
  return Status::ok();
}

uint32_t row_start(const MachineInst& inst, int partition) {
  return static_cast<uint32_t>(inst.base) +
         static_cast<uint32_t>(inst.channel_multiplier) * static_cast<uint32_t>(partition);
}

bool compare_to_zero(isa::AluOp op, int32_t value) {
  switch (op) {
    case isa::AluOp::IsEqual:
      return value == 0;
    case isa::AluOp::NotEqual:
      return value != 0;
    case isa::AluOp::IsGt:
      return value > 0;
    case isa::AluOp::IsGe:
      return value >= 0;
    case isa::AluOp::IsLt:
      return value < 0;
    default:
      return value <= 0;
  }
}

}  // namespace

Status execute_iota(State& state, const MachineInst& inst) {
  View out;
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", out));
  const int64_t n = out.elements;
  uint32_t *pattern = scratch_bits(0, n), *row = scratch_bits(1, n);
  NCC_TRY(pattern_values(inst, n, pattern));
  float* values = scratch_row(2, n);
  const bool word = out.dtype == Dtype::S32 || out.dtype == Dtype::U32;
  for (int p = 0; p < out.partitions; ++p) {
    const uint32_t start = row_start(inst, p);
    for (int64_t i = 0; i < n; ++i) row[i] = pattern[i] + start;
    if (word) {
      store_row_bits(out, p, row);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<int32_t>(row[i]));
    store_row(out, p, values);
  }
  state.mark_written(out);
  return Status::ok();
}

Status execute_affine_select(State& state, const MachineInst& inst) {
  if (isa::info(inst.compare_op).domain != isa::AluDomain::Compare)
    return illegal("'{}' as the comparison", isa::name(inst.compare_op));
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  ScalarValues fill;
  NCC_TRY(resolve_scalar(state, inst, inst.scalar0, o.out.partitions, "scalar0 (fill)", fill));
  const int64_t n = o.out.elements;
  uint32_t* pattern = scratch_bits(0, n);
  NCC_TRY(pattern_values(inst, n, pattern));
  for (int p = 0; p < o.out.partitions; ++p) {
    const uint32_t start = row_start(inst, p);
    const float fill_value = fill.value[static_cast<size_t>(p)];
    auto keeps = [&](int64_t i) {
      return compare_to_zero(inst.compare_op, static_cast<int32_t>(pattern[i] + start));
    };
    if (o.in0.dtype == o.out.dtype) {  // kept elements move as raw bits
      uint32_t* row = scratch_bits(1, n);
      load_row_bits(o.in0, p, false, row);
      uint32_t fill_bits = 0;
      from_f32(o.out.dtype, &fill_value, &fill_bits, 1);
      for (int64_t i = 0; i < n; ++i) row[i] = keeps(i) ? row[i] : fill_bits;
      store_row_bits(o.out, p, row);
    } else {
      float* row = scratch_row(1, n);
      load_row(o.in0, p, row);
      for (int64_t i = 0; i < n; ++i) row[i] = keeps(i) ? row[i] : fill_value;
      store_row(o.out, p, row);
    }
  }
  state.mark_written(o.out);
  return Status::ok();
}

}  // namespace ncc::machine
