#include "ir-formats/bir/lower.h"

#include "ir-formats/bir/enums.h"

namespace ncc::bir {
namespace {

using isa::AluDomain;
using isa::MachineInst;
using isa::Scalar;

bool is_bits(AluOp op) { return isa::info(op).domain == AluDomain::Bits; }
bool works_on_bits(AluOp op) { return is_bits(op) || op == AluOp::Bypass; }
bool is_int32(Dtype dtype) { return dtype == Dtype::S32 || dtype == Dtype::U32; }
bool is_access(const Operand& op) {
  return op.kind == OperandKind::PhysicalAp || op.kind == OperandKind::SymbolicAp;
}

class Lowering {
 public:
  Lowering(const Instruction& inst, const Module& module, const ArchModel& arch, const AccessMap& accesses,
           Lowered& out)
      : inst_(inst), attrs_(inst.attrs()), module_(module), arch_(arch), accesses_(accesses), out_(out) {}

  Status run() {
    switch (inst_.opcode) {
      case Opcode::Matmult:
        return matmult();
      case Opcode::Activation:
        return activation();
      case Opcode::TensorScalarPtr:
        return tensor_scalar();
      case Opcode::TensorTensor:
        return tensor_tensor();
      case Opcode::TensorReduce:
        return reduce();
      case Opcode::AbstractCopy:
      case Opcode::GenericCopy:
      case Opcode::TensorCopy:
      case Opcode::Load:
      case Opcode::Save:
      case Opcode::DMACopy:
        return copy();
      case Opcode::Reciprocal:
        return unary(isa::Opcode::Reciprocal);
      case Opcode::StreamTranspose:
        return unary(isa::Opcode::StreamTranspose);
      case Opcode::StreamShuffle:
        add(isa::Opcode::LoadMaskSelect).mask = attrs_.mask;
        return unary(isa::Opcode::StreamShuffle);
      case Opcode::Memset: {
        MachineInst& m = add(isa::Opcode::Memset);
        m.scalar0 = Scalar::immediate_bits(attrs_.constant);
        return access(inst_.outs[0], m.out);
      }
      case Opcode::Iota: {
        MachineInst& m = add(isa::Opcode::Iota);
        affine_pattern(m);
        return access(inst_.outs[0], m.out);
      }
      case Opcode::TensorScalarAffineSelect: {
        MachineInst& m = add(isa::Opcode::TensorScalarAffineSelect);
        affine_pattern(m);
        m.compare_op = attrs_.compare_op;
        m.scalar0 = Scalar::immediate(attrs_.fill);
        NCC_TRY(access(inst_.ins[0], m.in0));
        return access(inst_.outs[0], m.out);
      }
      case Opcode::Select:
        return select();
      case Opcode::CopyPredicated:
        return predicated(inst_.ins[0], inst_.ins[1]);
      case Opcode::DveReadAccumulator: {
        MachineInst& m = add(isa::Opcode::DveReadAccumulator);
        m.negate = attrs_.negate;
        return access(inst_.outs[0], m.out);
      }
      case Opcode::LoadActFuncSet:
        add(isa::Opcode::ActivationTableLoad).table_set = attrs_.table_set;
        return Status::ok();
      case Opcode::NoOp:
        add(isa::Opcode::Nop);
        return Status::ok();
      case Opcode::EventSemaphore:
        add(isa::Opcode::EventSemaphore);
        return Status::ok();
      case Opcode::Drain:
        add(isa::Opcode::Drain);
        return Status::ok();
      case Opcode::Halt:
        add(isa::Opcode::Halt);
        return Status::ok();
      case Opcode::AllEngineBarrier:
        add(isa::Opcode::AllEngineBarrier);
        return Status::ok();
      case Opcode::Exit:
        add(isa::Opcode::Exit);
        return Status::ok();
      default:
        return illegal(module_, inst_, "has no machine form");
    }
  }

 private:
  MachineInst& add(isa::Opcode opcode) {
    MachineInst m;
    m.opcode = opcode;
    m.engine = inst_.engine;
    m.source = inst_.source;
    out_.instructions.push_back(m);
    return out_.instructions.back();
  }

  Status access(const Operand& op, isa::Access& out, bool positional = false) const {
    if (!is_access(op)) return illegal(module_, inst_, "an immediate where data is expected");
    if (!make_access(op, accesses_.origin(op), positional, out))
      return illegal(module_, inst_, fmt::format("an operand of more than {} free dims", isa::kMaxFreeDims));
    return Status::ok();
  }

  /// `bits`: the operation works on raw bits; else an integer immediate means its value in fp32.
  Status scalar(const Operand& op, Scalar& out, bool bits = false) const {
    if (op.kind == OperandKind::Immediate) {
      const bool convert = !bits && is_integer(op.dtype);
      out = convert ? Scalar::immediate(static_cast<float>(static_cast<int32_t>(op.bits)))
                    : Scalar::immediate_bits(op.bits);
      return Status::ok();
    }
    out.kind = Scalar::Kind::Pointer;
    return access(op, out.pointer);
  }

  void affine_pattern(MachineInst& m) const {
    m.base = attrs_.base;
    m.channel_multiplier = attrs_.channel_multiplier;
    m.pattern_rank = attrs_.pattern_rank;
    for (int i = 0; i < attrs_.pattern_rank; ++i) m.pattern[i] = attrs_.pattern[i];
  }

  Status unary(isa::Opcode opcode) {
    MachineInst& m = add(opcode);
    NCC_TRY(access(inst_.ins[0], m.in0));
    return access(inst_.outs[0], m.out);
  }

  Status matmult() {
    MachineInst& weights = add(isa::Opcode::Ldweights);
    weights.perf_mode = attrs_.perf_mode;
    weights.is_transpose = attrs_.is_transpose;
    NCC_TRY(access(inst_.ins[1], weights.in0));
    MachineInst& m = add(isa::Opcode::Matmul);
    m.perf_mode = attrs_.perf_mode;
    m.is_transpose = attrs_.is_transpose;
    m.accumulate_flags = attrs_.accumulation_flag;
    NCC_TRY(access(inst_.ins[0], m.in0));
    return access(inst_.outs[0], m.out);
  }

  Status activation() {
    MachineInst& m = add(isa::Opcode::Activate);
    m.function = attrs_.function;
    m.accumulate = attrs_.accumulate;
    if (attrs_.accumulate != AccumulateCommand::Idle && attrs_.reduce_op != AluOp::Add)
      return illegal(module_, inst_, "its accumulator only adds");
    NCC_TRY(access(inst_.ins[0], m.in0));
    if (inst_.ins.size() > 1) NCC_TRY(scalar(inst_.ins[1], m.scalar0));
    m.scalar1 = Scalar::immediate(attrs_.scale);
    if (inst_.ins.size() > 2) NCC_TRY(scalar(inst_.ins[2], m.scalar1));
    if (attrs_.function == ActivationFunction::Prelu) m.scalar2 = Scalar::immediate(attrs_.alpha);
    NCC_TRY(access(inst_.outs[0], m.out));
    if (inst_.outs.size() < 2) return Status::ok();
    return access(inst_.outs[1], add(isa::Opcode::ActivationReadAccumulator).out);
  }

  Status tensor_scalar() {
    const bool bits = is_bits(attrs_.op0) || is_bits(attrs_.op1);
    if (bits && !(works_on_bits(attrs_.op0) && works_on_bits(attrs_.op1)))
      return illegal(module_, inst_, "one operation on raw bits and one on numbers");
    isa::Opcode opcode = bits ? isa::Opcode::TensorScalarBitvec : isa::Opcode::TensorScalarArith;
    if (attrs_.is_tensor_tensor_scan) {
      opcode = isa::Opcode::TensorTensorScan;
    } else if (attrs_.is_scalar_tensor_tensor) {
      opcode = bits ? isa::Opcode::ScalarTensorTensorBitvec : isa::Opcode::ScalarTensorTensorArith;
    } else if (attrs_.accumulate != AccumulateCommand::Idle) {
      opcode = isa::Opcode::TensorScalarCacheReduce;
    }
    MachineInst& m = add(opcode);
    m.op0 = attrs_.op0;
    m.op1 = attrs_.op1;
    m.accumulate = attrs_.accumulate;
    m.reverse = static_cast<uint8_t>((attrs_.reverse0 ? 1 : 0) | (attrs_.reverse1 ? 2 : 0));
    NCC_TRY(access(inst_.ins[0], m.in0));
    NCC_TRY(scalar(inst_.ins[1], m.scalar0, bits));
    if (inst_.ins.size() > 2) {
      if (attrs_.is_scalar_tensor_tensor || attrs_.is_tensor_tensor_scan) {
        NCC_TRY(access(inst_.ins[2], m.in1));
      } else {
        NCC_TRY(scalar(inst_.ins[2], m.scalar1, bits));
      }
    }
    NCC_TRY(access(inst_.outs[0], m.out));
    if (inst_.outs.size() < 2) return Status::ok();
    MachineInst& drain = add(isa::Opcode::DveReadAccumulator);
    drain.negate = attrs_.negate;
    return access(inst_.outs[1], drain.out);
  }

  /// int32 arithmetic modulo 2^32 exists on Pool: add and mult; from generation 3 subtract, divide and mod
  /// (C5).
  bool is_exact_int32(AluOp& op) const {
    if (inst_.engine != Engine::Pool || !is_int32(inst_.ins[0].dtype) || !is_int32(inst_.ins[1].dtype) ||
        !is_int32(inst_.outs[0].dtype))
      return false;
    if (op == AluOp::Add || op == AluOp::Mult) return true;
    if (!arch_.pool_int32_sub_div_mod) return false;
    if (op == AluOp::Mod) op = AluOp::ModInt;
    return op == AluOp::Subtract || op == AluOp::Divide || op == AluOp::ModInt;
  }

  Status tensor_tensor() {
    AluOp op = attrs_.op0;
    isa::Opcode opcode = isa::Opcode::TensorTensorArith;
    if (is_exact_int32(op)) {
      opcode = isa::Opcode::TensorTensorInt32;
    } else if (is_bits(op)) {
      opcode = isa::Opcode::TensorTensorBitvec;
    }
    MachineInst& m = add(opcode);
    m.op0 = op;
    NCC_TRY(access(inst_.ins[0], m.in0));
    NCC_TRY(access(inst_.ins[1], m.in1));
    return access(inst_.outs[0], m.out);
  }

  Status reduce() {
    const bool across = attrs_.axis == isa::Axis::C || attrs_.axis == isa::Axis::XYZWC;
    const bool bits = is_bits(attrs_.op0);
    MachineInst& m =
        add(across ? (bits ? isa::Opcode::CrossLaneReduceBitvec : isa::Opcode::CrossLaneReduceArith)
                   : (bits ? isa::Opcode::TensorReduceBitvec : isa::Opcode::TensorReduceArith));
    m.op0 = attrs_.op0;
    m.axis = attrs_.axis;
    m.negate = attrs_.negate;
    NCC_TRY(access(inst_.ins[0], m.in0, !across));
    return access(inst_.outs[0], m.out);
  }

  Status copy() {
    const Operand &src = inst_.ins[0], &dst = inst_.outs[0];
    if (!is_access(src)) return illegal(module_, inst_, "an immediate source");
    const Origin from = accesses_.origin(src), to = accesses_.origin(dst);
    if (is_dma(inst_.opcode) || from.space == isa::Space::Dram || to.space == isa::Space::Dram) {
      if (!make_descriptors(src, from, dst, to, attrs_.dma_transpose, inst_.source, out_.descriptors))
        return illegal(module_, inst_, "its two patterns have no common factoring into descriptors");
      return Status::ok();
    }
    return move(src, dst);
  }

  Status move(const Operand& src, const Operand& dst) {
    MachineInst& m = add(src.dtype == dst.dtype ? isa::Opcode::Copy : isa::Opcode::Cast);
    NCC_TRY(access(src, m.in0));
    return access(dst, m.out);
  }

  Status predicated(const Operand& src, const Operand& mask) {
    isa::Opcode opcode = isa::Opcode::CopyPredicated;
    if (src.kind == OperandKind::Immediate) {
      opcode = isa::Opcode::CopyPredicatedScalar;
    } else if (src.dtype != inst_.outs[0].dtype) {
      opcode = isa::Opcode::CastPredicated;
    }
    MachineInst& m = add(opcode);
    if (src.kind == OperandKind::Immediate) {
      m.scalar0 = Scalar::immediate_bits(src.bits);
    } else {
      NCC_TRY(access(src, m.in0));
    }
    NCC_TRY(access(mask, m.in1));
    return access(inst_.outs[0], m.out);
  }

  Status select() {
    if (!is_access(inst_.ins[2])) return illegal(module_, inst_, "an immediate false value");
    NCC_TRY(move(inst_.ins[2], inst_.outs[0]));
    return predicated(inst_.ins[1], inst_.ins[0]);
  }

  const Instruction& inst_;
  const Attributes& attrs_;
  const Module& module_;
  const ArchModel& arch_;
  const AccessMap& accesses_;
  Lowered& out_;
};

}  // namespace

Status illegal(const Module& module, const Instruction& inst, const std::string& what) {
  SourceLoc loc;
  if (inst.source < module.sources.size()) {
    const isa::SourceInst& source = module.sources[inst.source];
    loc = {source.op_name, source.file, source.line};
  }
  return error(Code::EBIR002, loc, inst.name, name(inst.opcode), what);
}

Status lower(const Instruction& inst, const Module& module, const ArchModel& arch, const AccessMap& accesses,
             Lowered& out) {
  return Lowering(inst, module, arch, accesses, out).run();
}

}  // namespace ncc::bir
