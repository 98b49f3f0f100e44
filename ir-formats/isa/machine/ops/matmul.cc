// PE: Ldweights and Matmul, with the accumulate flags and the exact transpose mode.
// The product of an instruction is an FMA chain per element from 0, then one addition to the old PSUM value
// unless START. Source: spec/isa.md §5.1, §10; DESIGN section 14, C3, M2.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ir-formats/isa/machine/ops/matmul_kernel.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::MachineInst;
using isa::PerfMode;
using isa::Space;

namespace {

constexpr uint8_t kStart = 1, kAccumulate = 4;

bool is_pe_operand(Dtype dtype) { return is_float(dtype) || dtype == Dtype::U8; }

// Double-row mode doubles the contraction: the outermost free dim has two entries, which follow each other in
// k.
Status contraction(const State& state, const MachineInst& inst, const View& view, int64_t& rows,
                   int64_t& columns) {
  const int fold = inst.perf_mode == PerfMode::DoubleRow ? 2 : 1;
  if (inst.perf_mode != PerfMode::None && inst.perf_mode != PerfMode::DoubleRow)
    return illegal("perf mode {}", isa::name(inst.perf_mode));
  if (fold == 2 && (state.arch.generation < 3 || inst.in0.dims[0].count != 2 || info(view.dtype).bits != 8))
    return illegal("double-row mode needs trn2, 8-bit elements and a first free dimension of 2");
  rows = static_cast<int64_t>(view.partitions) * fold;
  columns = view.elements / fold;
  return Status::ok();
}

// Rows as fp32 [k][column]; entry j of a double row is row k * 2 + j.
void load_matrix(const View& view, int64_t rows, int64_t columns, float* out, int64_t pitch) {
  const int64_t fold = rows / view.partitions;
  for (int p = 0; p < view.partitions; ++p) {
    if (fold == 1) {
      load_row(view, p, out + p * pitch);
      continue;
    }
    float* row = scratch_row(0, view.elements);
    load_row(view, p, row);
    for (int64_t j = 0; j < fold; ++j) std::copy_n(row + j * columns, columns, out + (p * fold + j) * pitch);
  }
  if (view.dtype == Dtype::F32R)
    for (int64_t k = 0; k < rows; ++k) from_f32(Dtype::F32R, out + k * pitch, out + k * pitch, columns);
}

Status check_pairing(Dtype moving, Dtype stationary) {
  const bool wide = moving == Dtype::F32 || moving == Dtype::F32R;
  const bool wide_weights = stationary == Dtype::F32 || stationary == Dtype::F32R;
  if (wide != wide_weights || (wide && moving != stationary))
    return illegal("moving {} with stationary {}: fp32 needs the same type on both sides", info(moving).hlo,
                   info(stationary).hlo);
  return Status::ok();
}

Status check_identity(const State& state, int64_t k) {
  if (state.weight_rows != k || state.weight_columns != k)
    return illegal("transpose of {} partitions with a {} x {} stationary matrix", k, state.weight_rows,
                   state.weight_columns);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < k; ++j)
      if (state.weights[static_cast<size_t>(i * kPeColumns + j)] != (i == j ? 1.0f : 0.0f))
        return illegal("transpose with a stationary matrix that is not the identity");
  return Status::ok();
}

// out [partition = n, free = k] = moving [partition = k, free = n] transposed, bit for bit; 8-bit floats
// widen.
Status transpose(State& state, const MachineInst& inst, const View& moving) {
  if (!state.arch.has_pe_transpose) return illegal("transpose mode on {}", state.arch.name);
  View out;
  NCC_TRY(state.resolve_operand(inst.out, State::Use::Write, "out", out));
  if (out.partitions != moving.elements || out.elements != moving.partitions)
    return illegal("transpose of {} x {} into {} x {}", moving.partitions, moving.elements, out.partitions,
                   out.elements);
  if (state.check) NCC_TRY(check_identity(state, moving.partitions));
  const bool raw = moving.dtype == out.dtype;
  if (!raw && info(moving.dtype).bits != 8)
    return illegal("transpose of {} into {}", info(moving.dtype).hlo, info(out.dtype).hlo);
  const int64_t k = moving.partitions, n = moving.elements;
  std::vector<uint32_t> matrix(static_cast<size_t>(k * n)), column(static_cast<size_t>(k));
  for (int p = 0; p < k; ++p) {
    if (raw)
      load_row_bits(moving, p, false, matrix.data() + p * n);
    else
      load_row(moving, p, reinterpret_cast<float*>(matrix.data() + p * n));
  }
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t p = 0; p < k; ++p) column[static_cast<size_t>(p)] = matrix[static_cast<size_t>(p * n + c)];
    if (raw)
      store_row_bits(out, static_cast<int>(c), column.data());
    else
      store_row(out, static_cast<int>(c), reinterpret_cast<const float*>(column.data()));
  }
  state.mark_written(out);
  return Status::ok();
}

Status resolve_moving(State& state, const MachineInst& inst, View& view) {
  if (inst.in0.space != Space::Sbuf) return illegal("PE reads SBUF only");
  NCC_TRY(resolve_data(state, inst.in0, State::Use::Read, "in0", view));
  if (!is_pe_operand(view.dtype)) return illegal("PE operand of element type {}", info(view.dtype).hlo);
  return Status::ok();
}

void write_rows(const MachineInst& inst, const View& out, const float* product, int64_t begin, int64_t end) {
  const bool accumulate = (inst.accumulate_flags & kStart) == 0 && (inst.accumulate_flags & kAccumulate) != 0;
  const int64_t n = out.elements;
  for (int64_t m = begin; m < end; ++m) {
    const float* row = product + (m - begin) * n;
    const int p = static_cast<int>(m);
    if (!accumulate) {
      store_row(out, p, row);
      continue;
    }
    const float* old = row_as_f32(out, p, scratch_row(1, n));
    float* sum = begin_row(out, p, scratch_row(2, n), old);
    for (int64_t i = 0; i < n; ++i) sum[i] = old[i] + row[i];
    finish_row(out, p, sum);
  }
}

}  // namespace

Status execute_ldweights(State& state, const MachineInst& inst) {
  View view;
  NCC_TRY(resolve_moving(state, inst, view));
  int64_t rows, columns;
  NCC_TRY(contraction(state, inst, view, rows, columns));
  if (columns > kPeColumns) return illegal("{} stationary columns, at most {}", columns, kPeColumns);
  state.weights.resize(static_cast<size_t>(rows * kPeColumns));
  load_matrix(view, rows, columns, state.weights.data(), kPeColumns);
  state.weight_rows = static_cast<int>(rows);
  state.weight_columns = static_cast<int>(columns);
  state.weight_dtype = view.dtype;
  return Status::ok();
}

Status execute_matmul(State& state, const MachineInst& inst) {
  View moving, out;
  NCC_TRY(resolve_moving(state, inst, moving));
  if (inst.out.space != Space::Psum) return illegal("PE writes PSUM only");
  if (state.weight_rows == 0) return illegal("no weights were loaded");
  NCC_TRY(check_pairing(moving.dtype, state.weight_dtype));
  if (inst.is_transpose) return transpose(state, inst, moving);
  int64_t k, n;
  NCC_TRY(contraction(state, inst, moving, k, n));
  if (n > state.arch.max_moving_free)
    return illegal("{} moving columns, at most {}", n, state.arch.max_moving_free);
  if (inst.psum_zero_region != 0) return illegal("PSUM zero region {}", inst.psum_zero_region);
  if (inst.out.dtype != Dtype::F32)
    return illegal("PSUM destination of element type {}", info(inst.out.dtype).hlo);
  const bool reads_old = (inst.accumulate_flags & (kStart | kAccumulate)) == kAccumulate;
  NCC_TRY(resolve_data(state, inst.out, reads_old ? State::Use::ReadWrite : State::Use::Write, "out", out));
  if (k != state.weight_rows || out.partitions != state.weight_columns || out.elements != n)
    return illegal("moving {} x {} with stationary {} x {} into {} x {}", k, n, state.weight_rows,
                   state.weight_columns, out.partitions, out.elements);
  if (state.psum_bytes == state.arch.psum_banks * state.arch.psum_bank_bytes &&
      out.low_byte / state.arch.psum_bank_bytes != (out.end_byte - 1) / state.arch.psum_bank_bytes)
    return illegal("out crosses a PSUM bank: bytes {}..{}", out.low_byte, out.end_byte - 1);

  const bool direct = moving.dtype == Dtype::F32 && moving.contiguous();
  const int64_t pitch =
      direct ? moving.partition_step / static_cast<int64_t>(sizeof(float)) : (n + 15) / 16 * 16 + 16;
  float* matrix = direct ? reinterpret_cast<float*>(moving.base) : scratch_row(4, k * pitch);
  if (!direct) load_matrix(moving, k, n, matrix, pitch);
  const MatmulOperands operands{state.weights.data(), kPeColumns, matrix, pitch, k, n};
  state.for_partitions(out.partitions, k * n, [&](int begin, int end) {
    float* product = scratch_row(5, (end - begin) * n);
    matmul_rows(operands, begin, end, product, n);
    write_rows(inst, out, product, begin, end);
  });
  state.mark_written(out);
  return Status::ok();
}

}  // namespace ncc::machine
