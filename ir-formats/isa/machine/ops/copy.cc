// Copies, casts, fills and predicated copies. Equal element types move raw bits; different ones convert
// through fp32. Source: spec/simulator-numerics.md §3.3, §5.2.
#include <cstring>

#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::MachineInst;
using isa::Opcode;

namespace {

// A Pred is a byte of 0 or 1 on the device.
Dtype storage(Dtype dtype) { return dtype == Dtype::Pred ? Dtype::U8 : dtype; }
bool is_raw(const View& a, const View& b) { return storage(a.dtype) == storage(b.dtype); }

void copy_row(const View& in, const View& out, int p) {
  const int64_t n = out.elements;
  if (is_raw(in, out) && in.contiguous() && out.contiguous()) {
    std::memmove(out.row(p), in.row(p), static_cast<size_t>(n * out.element_size));
  } else if (is_raw(in, out)) {
    uint32_t* row = scratch_bits(0, n);
    load_row_bits(in, p, false, row);
    store_row_bits(out, p, row);
  } else {
    const float* row = row_as_f32(in, p, scratch_row(0, n));
    if (row != scratch_row(0, n) && out.space == in.space) {  // the output may lie over the input
      std::memcpy(scratch_row(0, n), row, static_cast<size_t>(n) * sizeof(float));
      row = scratch_row(0, n);
    }
    store_row(out, p, row);
  }
}

}  // namespace

Status execute_copy(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  state.for_partitions(o.out.partitions, o.out.elements * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) copy_row(o.in0, o.out, p);
  });
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_memset(State& state, const MachineInst& inst) {
  View out;
  NCC_TRY(resolve_data(state, inst.out, State::Use::Write, "out", out));
  uint32_t* row = scratch_bits(0, out.elements);
  std::fill(row, row + out.elements, inst.scalar0.bits);
  for (int p = 0; p < out.partitions; ++p) store_row_bits(out, p, row);
  state.mark_written(out);
  return Status::ok();
}

Status execute_copy_predicated(State& state, const MachineInst& inst) {
  const bool from_scalar = inst.opcode == Opcode::CopyPredicatedScalar;
  View mask, out, in;
  NCC_TRY(resolve_data(state, inst.in1, State::Use::Read, "in1 (mask)", mask));
  NCC_TRY(resolve_data(state, inst.out, State::Use::ReadWrite, "out", out));
  if (mask.partitions != out.partitions || mask.elements != out.elements)
    return illegal("the mask is {} partitions x {} elements, out is {} x {}", mask.partitions, mask.elements,
                   out.partitions, out.elements);
  ScalarValues scalar{};
  if (from_scalar) {
    NCC_TRY(resolve_scalar(state, inst, inst.scalar0, out.partitions, "scalar0", scalar));
  } else {
    NCC_TRY(resolve_data(state, inst.in0, State::Use::Read, "in0", in));
    if (in.partitions != out.partitions || in.elements != out.elements)
      return illegal("in0 is {} partitions x {} elements, out is {} x {}", in.partitions, in.elements,
                     out.partitions, out.elements);
  }
  const int64_t n = out.elements;
  state.for_partitions(out.partitions, n * out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      auto* keep = reinterpret_cast<uint8_t*>(scratch_row(0, n));
      load_row_nonzero(mask, p, keep);
      uint32_t *old = scratch_bits(1, n), *source = scratch_bits(2, n);
      load_row_bits(out, p, false, old);
      if (from_scalar) {
        uint32_t bits = 0;
        from_f32(out.dtype, &scalar.value[static_cast<size_t>(p)], &bits, 1);
        std::fill(source, source + n, bits);
      } else if (is_raw(in, out)) {
        load_row_bits(in, p, false, source);
      } else {  // through memory of the output's type
        const float* values = row_as_f32(in, p, scratch_row(3, n));
        auto* narrow = reinterpret_cast<std::byte*>(scratch_row(4, n));
        from_f32(out.dtype, values, narrow, n);
        for (int64_t i = 0; i < n; ++i) {
          source[i] = 0;
          std::memcpy(&source[i], narrow + i * out.element_size, static_cast<size_t>(out.element_size));
        }
      }
      for (int64_t i = 0; i < n; ++i) source[i] = keep[i] != 0 ? source[i] : old[i];
      store_row_bits(out, p, source);
    }
  });
  return Status::ok();
}

}  // namespace ncc::machine
