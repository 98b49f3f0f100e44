#include "ir-formats/isa/machine/functional_core.h"

#include <cstring>

#include "ir-formats/isa/machine/ops/ops.h"
#include "ir-formats/isa/machine/state.h"

namespace ncc::machine {

using isa::Engine;
using isa::MachineInst;
using isa::Opcode;
using isa::Space;

FunctionalCore::FunctionalCore(const ArchModel& arch, const std::vector<isa::Variable>& variables,
                               const HostMemory& memory, const CoreOptions& options)
    : state_(std::make_unique<State>(arch, variables, memory, options)) {}
FunctionalCore::~FunctionalCore() = default;
FunctionalCore::FunctionalCore(FunctionalCore&&) noexcept = default;

namespace {

// Which memories an engine reaches (spec/arch.md §3.2).
Status check_engine(const State& state, const MachineInst& inst) {
  if (!isa::is_legal(inst.opcode, inst.engine, state.arch.generation))
    return illegal("{} on engine {} of {}", isa::info(inst.opcode).mnemonic, isa::name(inst.engine),
                   state.arch.name);
  const bool psum =
      inst.in0.space == Space::Psum || inst.in1.space == Space::Psum || inst.out.space == Space::Psum;
  if (inst.engine == Engine::Pool && psum) return illegal("Pool does not reach PSUM");
  if (inst.in0.space == Space::Psum && inst.in1.space == Space::Psum)
    return illegal("two operands from PSUM, at most one may be");
  return Status::ok();
}

Status execute_data(State& state, const MachineInst& inst) {
  switch (inst.opcode) {
    case Opcode::Ldweights:
      return execute_ldweights(state, inst);
    case Opcode::Matmul:
      return execute_matmul(state, inst);
    case Opcode::Activate:
      return execute_activate(state, inst);
    case Opcode::ActivationReadAccumulator:
    case Opcode::DveReadAccumulator:
      return execute_read_accumulator(state, inst);
    case Opcode::TensorTensorArith:
    case Opcode::TensorTensorBitvec:
    case Opcode::TensorTensorInt32:
      return execute_tensor_tensor(state, inst);
    case Opcode::TensorScalarArith:
    case Opcode::TensorScalarBitvec:
      return execute_tensor_scalar(state, inst);
    case Opcode::TensorScalarCacheReduce:
      return execute_cache_reduce(state, inst);
    case Opcode::ScalarTensorTensorArith:
    case Opcode::ScalarTensorTensorBitvec:
      return execute_scalar_tensor_tensor(state, inst);
    case Opcode::TensorTensorScan:
      return execute_scan(state, inst);
    case Opcode::TensorReduceArith:
    case Opcode::TensorReduceBitvec:
      return execute_reduce(state, inst);
    case Opcode::CrossLaneReduceArith:
    case Opcode::CrossLaneReduceBitvec:
      return execute_cross_lane_reduce(state, inst);
    case Opcode::Copy:
    case Opcode::Cast:
      return execute_copy(state, inst);
    case Opcode::Reciprocal:
      return execute_reciprocal(state, inst);
    case Opcode::Memset:
      return execute_memset(state, inst);
    case Opcode::Iota:
      return execute_iota(state, inst);
    case Opcode::TensorScalarAffineSelect:
      return execute_affine_select(state, inst);
    case Opcode::CopyPredicated:
    case Opcode::CastPredicated:
    case Opcode::CopyPredicatedScalar:
      return execute_copy_predicated(state, inst);
    case Opcode::LoadMaskSelect:
      return execute_load_mask(state, inst);
    case Opcode::StreamShuffle:
      return execute_stream_shuffle(state, inst);
    case Opcode::StreamTranspose:
      return execute_stream_transpose(state, inst);
    case Opcode::RegisterMove:
    case Opcode::RegisterAlu:
    case Opcode::TensorLoadRegister:
    case Opcode::TensorStoreRegister:
      return execute_register(state, inst);
    case Opcode::Opaque:
      return illegal("opcode {:#04x} has no semantics here", inst.opaque_byte);
    default:
      return Status::ok();  // waits, updates, branches, triggers, barriers, table loads
  }
}

}  // namespace

Status FunctionalCore::execute(const MachineInst& inst) {
  NCC_TRY(check_engine(*state_, inst));
  return execute_data(*state_, inst);
}
Status FunctionalCore::execute(const isa::DmaDescriptor& descriptor) {
  return execute_dma(*state_, descriptor);
}

int32_t FunctionalCore::reg(Engine engine, int index) const {
  return state_->registers[static_cast<size_t>(engine)][static_cast<size_t>(index)].value;
}
void FunctionalCore::set_reg(Engine engine, int index, int32_t value) {
  state_->registers[static_cast<size_t>(engine)][static_cast<size_t>(index)] = {value, true};
}

bool FunctionalCore::branch_taken(const MachineInst& inst) const {
  if (inst.branch_always) return true;
  const auto& registers = state_->registers[static_cast<size_t>(inst.engine)];
  const int32_t left = registers[inst.reg_left & 63].value;
  const int32_t right =
      is_register_compare(inst.compare) ? registers[inst.reg_right & 63].value : inst.immediate;
  switch (inst.compare) {
    case isa::BranchCompare::LtImm:
    case isa::BranchCompare::LtReg:
      return left < right;
    case isa::BranchCompare::LeImm:
    case isa::BranchCompare::LeReg:
      return left <= right;
    case isa::BranchCompare::EqImm:
    case isa::BranchCompare::EqReg:
      return left == right;
    case isa::BranchCompare::NeImm:
    case isa::BranchCompare::NeReg:
      return left != right;
    case isa::BranchCompare::GeImm:
    case isa::BranchCompare::GeReg:
      return left >= right;
    default:
      return left > right;
  }
}

bool is_register_compare(isa::BranchCompare compare) { return compare >= isa::BranchCompare::LtReg; }

namespace {

// Elements of `view` in visit order to or from `dense`.
template <class Move>
void for_each_element(const View& view, Move move) {
  int64_t at = 0;
  for (int p = 0; p < view.partitions; ++p) {
    std::array<int64_t, isa::kMaxFreeDims> index{};
    std::byte* element = view.row(p);
    for (int64_t i = 0; i < view.elements; ++i, at += view.element_size) {
      move(element, at);
      for (int d = view.rank - 1; d >= 0; --d) {
        element += view.dims[static_cast<size_t>(d)].step;
        if (++index[static_cast<size_t>(d)] < view.dims[static_cast<size_t>(d)].count) break;
        element -= view.dims[static_cast<size_t>(d)].step * view.dims[static_cast<size_t>(d)].count;
        index[static_cast<size_t>(d)] = 0;
      }
    }
  }
}

}  // namespace

Status FunctionalCore::read(const isa::Access& access, std::vector<std::byte>& out) const {
  View view;
  const bool check = state_->check;
  state_->check = false;  // a look, not an access of the program
  const Status status = state_->resolve(access, State::Use::Read, "read", view);
  state_->check = check;
  NCC_TRY(status);
  out.resize(static_cast<size_t>(view.partitions * view.elements * view.element_size));
  for_each_element(view, [&](const std::byte* element, int64_t at) {
    std::memcpy(out.data() + at, element, static_cast<size_t>(view.element_size));
  });
  return Status::ok();
}

Status FunctionalCore::write(const isa::Access& access, std::span<const std::byte> elements) {
  View view;
  NCC_TRY(state_->resolve(access, State::Use::Write, "write", view));
  const auto expected = static_cast<size_t>(view.partitions * view.elements * view.element_size);
  if (elements.size() != expected) return illegal("write of {} bytes to {}", elements.size(), expected);
  for_each_element(view, [&](std::byte* element, int64_t at) {
    std::memcpy(element, elements.data() + at, static_cast<size_t>(view.element_size));
  });
  state_->mark_written(view);
  return Status::ok();
}

void FunctionalCore::mark_unwritten(const isa::Access& access) {
  View view;
  if (state_->resolve(access, State::Use::Write, "buffer", view).is_ok()) state_->mark_unwritten(view);
}

std::span<const std::byte> FunctionalCore::variable(size_t index) const {
  const State::DramVariable& variable = state_->dram[index];
  return {variable.data, static_cast<size_t>(variable.size)};
}

int64_t FunctionalCore::first_unwritten(size_t index) const {
  const State::DramVariable& variable = state_->dram[index];
  return variable.tracked ? variable.written.first_unwritten(0, variable.size) : -1;
}

Status annotate(const Status& status, const isa::SourceInst& source, std::string_view what) {
  if (status.is_ok()) return status;
  Diagnostic diagnostic = status.diagnostic();
  diagnostic.cause += fmt::format(", in {}", what);
  if (!source.name.empty()) diagnostic.cause += fmt::format(" of '{}'", source.name);
  if (diagnostic.loc.empty()) diagnostic.loc = {source.op_name, source.file, source.line};
  return Status(std::move(diagnostic));
}

}  // namespace ncc::machine
