// Scalar registers: moves, ALU, and loads and stores of one element. Registers are 32-bit; an unknown one
// (timing-only runs) makes what depends on it unknown. Source: spec/isa.md §5.5; DESIGN section 14, M7.
#include <cstring>

#include "ir-formats/isa/machine/alu.h"
#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::AluOp;
using isa::MachineInst;
using isa::Opcode;

namespace {

Status register_alu(AluOp op, int32_t a, int32_t b, int32_t& result) {
  const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
  uint32_t out = 0;
  switch (op) {
    case AluOp::Add:
    case AluOp::Subtract:
    case AluOp::Mult:
    case AluOp::Divide:
    case AluOp::Mod:
      int32_rows(op, false, &ua, &ub, &out, 1);
      break;
    case AluOp::Max:
      out = a > b ? ua : ub;
      break;
    case AluOp::Min:
      out = a < b ? ua : ub;
      break;
    case AluOp::IsEqual:
      out = a == b;
      break;
    case AluOp::NotEqual:
      out = a != b;
      break;
    case AluOp::IsGt:
      out = a > b;
      break;
    case AluOp::IsGe:
      out = a >= b;
      break;
    case AluOp::IsLt:
      out = a < b;
      break;
    case AluOp::IsLe:
      out = a <= b;
      break;
    case AluOp::LogicalAnd:
      out = a != 0 && b != 0;
      break;
    case AluOp::LogicalOr:
      out = a != 0 || b != 0;
      break;
    case AluOp::LogicalXor:
      out = (a != 0) != (b != 0);
      break;
    case AluOp::Abs:
      out = a < 0 ? 0u - ua : ua;
      break;
    default:
      if (!is_bitwise(op)) return illegal("ALU op '{}' on registers", isa::name(op));
      out = bits_alu(op, ua, ub);
  }
  result = static_cast<int32_t>(out);
  return Status::ok();
}

Status resolve_element(State& state, const isa::Access& access, State::Use use, const char* what,
                       View& view) {
  NCC_TRY(state.resolve(access, use, what, view));
  if (view.elements * view.partitions != 1)
    return illegal("{} has {} elements", what, view.elements * view.partitions);
  if (!is_computable(access.dtype)) return illegal("{} has element type {}", what, info(access.dtype).hlo);
  return Status::ok();
}

}  // namespace

Status execute_register(State& state, const MachineInst& inst) {
  auto& registers = state.registers[static_cast<size_t>(inst.engine)];
  const State::Register left = registers[inst.reg_left & 63], right = registers[inst.reg_right & 63];
  State::Register& target = registers[inst.reg_dst & 63];
  View view;
  switch (inst.opcode) {
    case Opcode::RegisterMove:
      target = inst.register_operand ? left : State::Register{inst.immediate, true};
      return Status::ok();
    case Opcode::RegisterAlu: {
      const State::Register second = inst.register_operand ? right : State::Register{inst.immediate, true};
      target.known = left.known && second.known;
      return register_alu(inst.op0, left.value, second.value, target.value);
    }
    case Opcode::TensorLoadRegister: {
      NCC_TRY(resolve_element(state, inst.in0, State::Use::Read, "in0", view));
      uint32_t bits;
      load_row_bits(view, 0, is_signed_int(inst.in0.dtype), &bits);
      target = {static_cast<int32_t>(bits), true};
      return Status::ok();
    }
    default: {  // TensorStoreRegister
      NCC_TRY(resolve_element(state, inst.out, State::Use::Write, "out", view));
      const auto bits = static_cast<uint32_t>(left.value);
      store_row_bits(view, 0, &bits);
      state.mark_written(view);
      return Status::ok();
    }
  }
}

}  // namespace ncc::machine
