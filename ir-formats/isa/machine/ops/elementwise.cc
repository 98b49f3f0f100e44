// TensorTensor, TensorScalar, ScalarTensorTensor in their fp32 and bitwise forms, Pool's int32 form,
// Reciprocal. Source: spec/simulator-numerics.md §3.3; DESIGN section 14, C5.
#include "ir-formats/isa/machine/alu.h"
#include "ir-formats/isa/machine/alu_support.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::AluOp;
using isa::MachineInst;
using isa::Opcode;

namespace {

bool is_bitvec(Opcode opcode) {
  return opcode == Opcode::TensorTensorBitvec || opcode == Opcode::TensorScalarBitvec ||
         opcode == Opcode::ScalarTensorTensorBitvec;
}

Status check_op(AluOp op, bool bitvec) {
  if (bitvec ? is_bitwise(op) : is_arithmetic(op)) return Status::ok();
  return illegal("ALU op '{}' in {} instruction", isa::name(op), bitvec ? "a bit-vector" : "an arithmetic");
}

bool is_word(Dtype dtype) { return dtype == Dtype::S32 || dtype == Dtype::U32; }

Status execute_int32(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  if (!inst.in1.present()) return illegal("in1 is missing");
  if (!is_word(o.in0.dtype) || !is_word(o.in1.dtype) || !is_word(o.out.dtype))
    return illegal("int32 arithmetic on {}, {} -> {}", info(o.in0.dtype).hlo, info(o.in1.dtype).hlo,
                   info(o.out.dtype).hlo);
  const AluSupport support = alu_support(inst.op0, o.out.dtype, isa::Engine::Pool, state.arch.generation);
  if (support != AluSupport::Exact || is_bitwise(inst.op0))
    return illegal("ALU op '{}' in int32 arithmetic of {}", isa::name(inst.op0), state.arch.name);
  const bool is_unsigned = o.in0.dtype == Dtype::U32;
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      uint32_t *a = scratch_bits(0, n), *b = scratch_bits(1, n);
      load_row_bits(o.in0, p, false, a);
      load_row_bits(o.in1, p, false, b);
      int32_rows(inst.op0, is_unsigned, a, b, a, n);
      store_row_bits(o.out, p, a);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

}  // namespace

Status execute_tensor_tensor(State& state, const MachineInst& inst) {
  if (inst.opcode == Opcode::TensorTensorInt32) return execute_int32(state, inst);
  const bool bitvec = is_bitvec(inst.opcode);
  NCC_TRY(check_op(inst.op0, bitvec));
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  if (!inst.in1.present()) return illegal("in1 is missing");
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      if (bitvec) {
        uint32_t *a = scratch_bits(0, n), *b = scratch_bits(1, n);
        load_row_bits(o.in0, p, wants_sign(inst.op0), a);
        load_row_bits(o.in1, p, false, b);
        bits_rows(inst.op0, a, b, a, n);
        store_row_bits(o.out, p, a);
        continue;
      }
      const float* a = row_as_f32(o.in0, p, scratch_row(0, n));
      const float* b = row_as_f32(o.in1, p, scratch_row(1, n));
      float* out = begin_row(o.out, p, scratch_row(2, n), a, b);
      alu_rows(inst.op0, a, b, out, n);
      finish_row(o.out, p, out);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

namespace {

struct TwoStage {
  AluOp op0, op1;
  bool reverse0, reverse1, has0, has1;
};

Status resolve_stages(State& state, const MachineInst& inst, int partitions, bool second_is_scalar,
                      TwoStage& stage, ScalarValues& s0, ScalarValues& s1) {
  const bool bitvec = is_bitvec(inst.opcode);
  NCC_TRY(check_op(inst.op0, bitvec));
  NCC_TRY(check_op(inst.op1, bitvec));
  auto takes_scalar = [](AluOp op) { return isa::info(op).arity == 2; };
  stage = {inst.op0,
           inst.op1,
           (inst.reverse & 1) != 0,
           (inst.reverse & 2) != 0,
           takes_scalar(inst.op0),
           second_is_scalar && takes_scalar(inst.op1)};
  s0.value.fill(0);
  s0.bits.fill(0);
  s1 = s0;
  if (stage.has0) NCC_TRY(resolve_scalar(state, inst, inst.scalar0, partitions, "scalar0", s0));
  if (stage.has1) NCC_TRY(resolve_scalar(state, inst, inst.scalar1, partitions, "scalar1", s1));
  return Status::ok();
}

// The word as op sees it: a narrow value that an arithmetic shift reads is sign-extended from its own width.
void extend(Dtype dtype, uint32_t* row, int64_t n) {
  const int shift = 32 - info(dtype).bits;
  for (int64_t i = 0; i < n; ++i)
    row[i] = static_cast<uint32_t>(static_cast<int32_t>(row[i] << shift) >> shift);
}

}  // namespace

Status execute_tensor_scalar(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  TwoStage stage;
  ScalarValues s0, s1;
  NCC_TRY(resolve_stages(state, inst, o.out.partitions, true, stage, s0, s1));
  const bool bitvec = is_bitvec(inst.opcode);
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const size_t i = static_cast<size_t>(p);
      if (bitvec) {
        uint32_t* row = scratch_bits(0, n);
        load_row_bits(o.in0, p, wants_sign(stage.op0), row);
        bits_row_scalar(stage.op0, row, s0.bits[i], stage.reverse0, row, n);
        if (wants_sign(stage.op1) && !wants_sign(stage.op0)) extend(o.in0.dtype, row, n);
        bits_row_scalar(stage.op1, row, s1.bits[i], stage.reverse1, row, n);
        store_row_bits(o.out, p, row);
        continue;
      }
      const float* in = row_as_f32(o.in0, p, scratch_row(0, n));
      float* out = begin_row(o.out, p, scratch_row(1, n), in);
      alu_row_scalar(stage.op0, in, s0.value[i], stage.reverse0, out, n);
      if (stage.op1 != AluOp::Bypass) alu_row_scalar(stage.op1, out, s1.value[i], stage.reverse1, out, n);
      finish_row(o.out, p, out);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_scalar_tensor_tensor(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  if (!inst.in1.present()) return illegal("in1 is missing");
  TwoStage stage;
  ScalarValues s0, unused;
  NCC_TRY(resolve_stages(state, inst, o.out.partitions, false, stage, s0, unused));
  const bool bitvec = is_bitvec(inst.opcode);
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const size_t i = static_cast<size_t>(p);
      if (bitvec) {
        uint32_t *a = scratch_bits(0, n), *b = scratch_bits(1, n);
        load_row_bits(o.in0, p, wants_sign(stage.op0), a);
        load_row_bits(o.in1, p, stage.reverse1 && wants_sign(stage.op1), b);
        bits_row_scalar(stage.op0, a, s0.bits[i], stage.reverse0, a, n);
        if (!stage.reverse1 && wants_sign(stage.op1) && !wants_sign(stage.op0)) extend(o.in0.dtype, a, n);
        if (stage.reverse1)
          bits_rows(stage.op1, b, a, a, n);
        else
          bits_rows(stage.op1, a, b, a, n);
        store_row_bits(o.out, p, a);
        continue;
      }
      const float* a = row_as_f32(o.in0, p, scratch_row(0, n));
      const float* b = row_as_f32(o.in1, p, scratch_row(1, n));
      float* middle = scratch_row(2, n);
      alu_row_scalar(stage.op0, a, s0.value[i], stage.reverse0, middle, n);
      float* out = begin_row(o.out, p, scratch_row(3, n), nullptr, b);
      if (stage.reverse1)
        alu_rows(stage.op1, b, middle, out, n);
      else
        alu_rows(stage.op1, middle, b, out, n);
      finish_row(o.out, p, out);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_reciprocal(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_elementwise(state, inst, o));
  const int64_t n = o.out.elements;
  state.for_partitions(o.out.partitions, n * o.out.partitions, [&](int begin, int end) {
    for (int p = begin; p < end; ++p) {
      const float* in = row_as_f32(o.in0, p, scratch_row(0, n));
      float* out = begin_row(o.out, p, scratch_row(1, n), in);
      alu_row_scalar(AluOp::Divide, in, 1.0f, true, out, n);
      finish_row(o.out, p, out);
    }
  });
  state.mark_written(o.out);
  return Status::ok();
}

}  // namespace ncc::machine
