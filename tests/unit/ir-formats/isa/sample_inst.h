// Random instructions of an opcode that the wire can hold, built from the opcode's field rows.
#pragma once
#include <random>

#include "ir-formats/isa/fields.h"
#include "ir-formats/isa/roles.h"
#include "ir-formats/isa/wire.h"

namespace ncc::isa {

class SampleInst {
 public:
  SampleInst(Opcode opcode, int generation, uint32_t seed)
      : opcode_(opcode), generation_(generation), rng_(seed) {}

  MachineInst make() {
    MachineInst x;
    x.opcode = opcode_;
    for (const Engine engine : kStreamEngines)
      if (is_legal(opcode_, engine, generation_)) x.engine = engine;
    if (opcode_ == Opcode::TensorTensorInt32) x.engine = Engine::Pool;
    counts_.clear();
    const int rank = uniform(1, smallest_rank());
    for (int i = 0; i < rank; ++i) counts_.push_back(uniform(2, 5));
    lanes_ = opcode_ == Opcode::StreamTranspose || opcode_ == Opcode::StreamShuffle ? 64 : uniform(1, 96);
    for (const Field& field : fields_of(opcode_, generation_)) fill(x, field.role);
    fill_scalars(x);
    if (fields_use(Role::CrossLaneOp)) x.out.num_partitions = 1;
    canonicalize(x);
    return x;
  }

 private:
  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }
  bool fields_use(Role role) const {
    for (const Field& field : fields_of(opcode_, generation_))
      if (field.role == role) return true;
    return false;
  }
  int smallest_rank() {
    int rank = kMaxFreeDims;
    for (const OperandRole role :
         {OperandRole::In0, OperandRole::In1, OperandRole::Out, OperandRole::Pattern})
      if (const int dims = max_free_dims(opcode_, role); dims > 0) rank = std::min(rank, dims);
    return rank;
  }
  Dtype dtype() {
    constexpr Dtype kTypes[] = {Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::U8,
                                Dtype::S8,  Dtype::S32,  Dtype::U32, Dtype::U16};
    return opcode_ == Opcode::TensorTensorInt32 ? Dtype::S32 : kTypes[uniform(0, 7)];
  }
  Access access(Space space) {
    Access a;
    a.space = space;
    a.dtype = dtype();
    a.start_partition = static_cast<uint8_t>(32 * uniform(0, 1));
    a.num_partitions = static_cast<uint8_t>(lanes_);
    a.offset = 8 * uniform(0, 1000);
    a.rank = static_cast<uint8_t>(counts_.size());
    for (size_t i = 0; i < counts_.size(); ++i) a.dims[i] = {uniform(-3, 40), counts_[i]};
    return a;
  }
  Access one_element(Space space) {
    Access a = access(space);
    a.rank = 1;
    a.dims = {};
    return a;
  }
  AluOp alu() {
    constexpr AluOp kOps[] = {AluOp::Add,    AluOp::Mult,  AluOp::IsGt, AluOp::Max,
                              AluOp::Bypass, AluOp::Rsqrt, AluOp::Pow};
    return kOps[uniform(0, 6)];
  }
  void fill(MachineInst& x, Role role) {
    const Space psum = x.opcode == Opcode::Matmul ? Space::Psum : Space::Sbuf;
    switch (role) {
      case Role::Events:
        x.num_waits = static_cast<uint8_t>(uniform(0, 1));
        x.waits[0] = {WaitMode::SemGeImm, static_cast<uint8_t>(uniform(0, 255)), uniform(0, 100000)};
        x.has_update = uniform(0, 1) == 1;
        x.update = {UpdateMode::SemInc, static_cast<uint8_t>(uniform(0, 255)), 1};
        break;
      case Role::Wait0:
        x.num_waits = static_cast<uint8_t>(uniform(1, 2));
        x.waits = {Wait{WaitMode::SemGeImm, 3, 7}, Wait{WaitMode::SemGeReg, 200, 17}};
        x.has_update = true;
        x.update = {UpdateMode::SemAddImm, 9, -4};
        break;
      case Role::In0:
        x.in0 = access(Space::Sbuf);
        break;
      case Role::In1:
        x.in1 = access(Space::Sbuf);
        break;
      case Role::Out:
        x.out = opcode_ == Opcode::ActivationReadAccumulator || opcode_ == Opcode::DveReadAccumulator
                    ? one_element(psum)
                    : access(psum);
        break;
      case Role::PeMode:
        x.is_transpose = generation_ >= 3 && uniform(0, 1) == 1;
        break;
      case Role::CrossLaneOp:
        x.op0 = AluOp::Average;
        break;
      case Role::CrossLaneAxis:
        x.axis = Axis::C;
        break;
      case Role::Op0:
        x.op0 = opcode_ == Opcode::TensorTensorInt32 ? AluOp::Mult : alu();
        break;
      case Role::Op1:
        x.op1 = alu();
        break;
      case Role::CompareOp:
        x.compare_op = AluOp::IsLt;
        break;
      case Role::Pattern:
        x.pattern_rank = static_cast<uint8_t>(counts_.size());
        for (size_t i = 0; i < counts_.size(); ++i) x.pattern[i] = {uniform(-50, 50), counts_[i]};
        break;
      case Role::MemoryIn:
        x.in0 = one_element(Space::Dram);
        x.in0.num_partitions = 1;
        x.in0.start_partition = 0;
        x.in0.variable = uniform(0, 50);
        break;
      case Role::MemoryOut:
        x.out = one_element(Space::Dram);
        x.out.num_partitions = 1;
        x.out.start_partition = 0;
        x.out.variable = uniform(0, 50);
        break;
      default:
        fill_attribute(x, role);
    }
  }
  void fill_attribute(MachineInst& x, Role role) {
    switch (role) {
      case Role::AccumulateFlags:
        x.accumulate_flags = static_cast<uint8_t>(uniform(0, 4));
        break;
      case Role::Function:
        x.function = static_cast<ActivationFunction>(uniform(0, 29));
        break;
      case Role::Accumulate:
        x.accumulate = uniform(0, 1) ? AccumulateCommand::LoadAccumulate : AccumulateCommand::Idle;
        break;
      case Role::Reverse:
        x.reverse = static_cast<uint8_t>(uniform(0, 3));
        break;
      case Role::Negate:
        x.negate = uniform(0, 1) == 1;
        break;
      case Role::AxisCode:
        x.axis = static_cast<Axis>(uniform(0, 3));
        break;
      case Role::TableSet:
        x.table_set = static_cast<uint8_t>(uniform(0, 255));
        break;
      case Role::Base:
        x.base = uniform(-100000, 100000);
        break;
      case Role::Multiplier:
        x.channel_multiplier = uniform(-300, 300);
        break;
      case Role::LaneMask:
        for (uint8_t& lane : x.mask) lane = static_cast<uint8_t>(uniform(0, 3) ? uniform(0, 31) : 255);
        break;
      case Role::RangeFirst:
        x.range_first = 4;
        x.range_last = 77;
        break;
      case Role::OperandKind:
        x.register_operand = uniform(0, 1) == 1;
        break;
      case Role::Compare:
        x.branch_always = uniform(0, 3) == 0;
        x.compare = static_cast<BranchCompare>(uniform(0, 11));
        x.target = static_cast<uint32_t>(uniform(0, 1 << 30));
        break;
      case Role::RegDst:
      case Role::RegLeft:
      case Role::RegRight:
        (role == Role::RegDst    ? x.reg_dst
         : role == Role::RegLeft ? x.reg_left
                                 : x.reg_right) = static_cast<uint8_t>(uniform(0, 63));
        break;
      case Role::Immediate:
        x.immediate = uniform(-1000000, 1000000);
        break;
      case Role::BlockId:
        x.dma_queue = static_cast<uint16_t>(uniform(0, 175));
        x.dma_block = static_cast<uint32_t>(uniform(0, 1 << 20));
        break;
      default:
        break;
    }
  }
  void fill_scalars(MachineInst& x) {
    const bool fixed_immediate = x.opcode == Opcode::Memset || x.opcode == Opcode::TensorScalarAffineSelect;
    const Dtype shared = dtype();
    Scalar* scalars[] = {&x.scalar0, &x.scalar1, &x.scalar2};
    for (int i = 0; i < 3; ++i) {
      if (!uses_scalar(x, i)) continue;
      const int kind = fixed_immediate ? 0 : uniform(0, 2);
      if (kind == 0) *scalars[i] = Scalar::immediate_bits(static_cast<uint32_t>(uniform(0, 1 << 30)));
      if (kind == 1) {
        scalars[i]->kind = Scalar::Kind::Register;
        scalars[i]->reg = static_cast<uint8_t>(uniform(0, 63));
      }
      if (kind == 2) {
        scalars[i]->kind = Scalar::Kind::Pointer;
        scalars[i]->pointer = one_element(Space::Sbuf);
        scalars[i]->pointer.dtype = shared;
      }
    }
  }

  Opcode opcode_;
  int generation_;
  std::mt19937 rng_;
  std::vector<int64_t> counts_;
  int lanes_ = 1;
};

}  // namespace ncc::isa
