#include "tools/hlo-opt/tile/builder.h"

#include <algorithm>

#include "common/diag/status.h"

#include <bit>

namespace ncc::hlo_opt {

using namespace penguin;

TileOperand TileOperand::immediate(float value) {
  return {true, std::bit_cast<uint32_t>(value), Dtype::F32, {}, false, {}};
}

TileBuilder::TileBuilder(const Module& source, const ArchModel& arch)
    : arch_(arch), out_(std::make_unique<Module>()) {
  out_->name = source.name;
  out_->functions.emplace_back();
  out_->main().name = source.main().name;
  storage_.emplace_back();
  frames_.push_back(&storage_.back());
}

TensorId TileBuilder::add_tensor(Tensor tensor) {
  int& count = used_names_[tensor.name];
  if (count++ > 0) tensor.name += fmt::format("_{}", count - 1);
  out_->main().tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(out_->main().tensors.size() - 1);
}

TensorId TileBuilder::new_tile(std::string_view name, Space space, Dtype dtype, int64_t lanes,
                               int64_t elements, size_t level) {
  Tensor tensor;
  tensor.name = name;
  tensor.dtype = dtype;
  tensor.shape = {lanes, elements};
  tensor.space = space;
  tensor.scope = frames_[level]->scope;
  tensor.loc = loc_;
  return add_tensor(std::move(tensor));
}

affine::Ref TileBuilder::open_loop(std::string_view name, int64_t extent) {
  Frame& frame = storage_.emplace_back();
  frame.scope = frames_.back()->scope;
  frame.real = extent > 1;
  frame.trips = frames_.back()->trips * extent;
  affine::Ref value = constant(0);
  if (frame.real) {
    const AxisId axis = static_cast<AxisId>(out_->main().axes.size());
    out_->main().axes.push_back({fmt::format("{}{}", name, axis), extent});
    frame.loop.kind = Stmt::Kind::Loop;
    frame.loop.axis = axis;
    frame.scope = axis;
    value = affine().axis(axis);
  }
  frames_.push_back(&frame);
  return value;
}

void TileBuilder::close_loop() {
  Frame* frame = frames_.back();
  frames_.pop_back();
  std::vector<Stmt>& parent = frames_.size() == 1 ? out_->main().body : frames_.back()->loop.body;
  if (frame->real) {
    if (!frame->loop.body.empty()) parent.push_back(std::move(frame->loop));
  } else {
    for (Stmt& stmt : frame->loop.body) parent.push_back(std::move(stmt));
  }
  frame->loop = {};
}

void TileBuilder::at_level(size_t level, const std::function<void()>& emit) {
  std::vector<Frame*> saved(frames_.begin(), frames_.end());
  frames_.resize(level + 1);
  emit();
  NCC_CHECK(frames_.size() == level + 1, "a hoisted emission left a loop open");
  frames_ = std::move(saved);
}

void TileBuilder::append(Inst::Tile tile) {
  Stmt stmt;
  stmt.inst = std::make_unique<Inst>();
  stmt.inst->name = fmt::format("{}.{}", name_, next_inst_++);
  stmt.inst->loc = loc_;
  stmt.inst->tile = std::make_unique<Inst::Tile>(std::move(tile));
  (frames_.size() == 1 ? out_->main().body : frames_.back()->loop.body).push_back(std::move(stmt));
}

bir::Operand TileBuilder::make_operand(const TileAccess& access, const std::vector<int64_t>& counts,
                                       const std::vector<int64_t>& strides) {
  bir::Operand operand;
  operand.kind = bir::OperandKind::SymbolicAp;
  operand.dtype = access.dtype == Dtype::Pred ? Dtype::U8 : access.dtype;
  operand.set = access.tensor;
  operand.partition_expr = constant(access.partition);
  operand.offset_expr = access.offset;
  if (access.space != Space::Dram)
    operand.ap[operand.rank++] = {1, access.lanes};
  else if (access.lanes > 1)
    operand.ap[operand.rank++] = {access.lane_step, access.lanes};
  for (size_t d = 0; d < counts.size(); ++d) {
    NCC_CHECK(operand.rank < bir::kMaxPatternDims, "{}: pattern of more than {} dims", name_,
              bir::kMaxPatternDims);
    operand.ap[operand.rank++] = {strides[d], counts[d]};
  }
  if (operand.rank == (access.space != Space::Dram ? 1 : 0)) operand.ap[operand.rank++] = {1, 1};
  return operand;
}

bir::Operand TileBuilder::make_fixed(const TileAccess& access, const std::vector<isa::Dim>& pattern) {
  std::vector<int64_t> counts, strides;
  for (const isa::Dim& dim : pattern) {
    counts.push_back(dim.count);
    strides.push_back(dim.step);
  }
  return make_operand(access, counts, strides);
}

namespace {

// Joins neighbouring dims that every operand walks as one.
template <class Dims>
void merge_dims(Dims& dims) {
  for (size_t d = dims.counts.size(); d-- > 1;) {
    bool joins = true;
    for (size_t k = 0; k < dims.strides[d].size(); ++k)
      joins = joins && dims.strides[d - 1][k] == dims.strides[d][k] * dims.counts[d];
    if (!joins) continue;
    dims.counts[d] *= dims.counts[d - 1];
    dims.counts.erase(dims.counts.begin() + static_cast<int64_t>(d) - 1);
    dims.strides.erase(dims.strides.begin() + static_cast<int64_t>(d) - 1);
  }
}

}  // namespace

void TileBuilder::emit(const TileInst& inst) {
  // Columns: inputs then outputs; immediates and scalars do not move.
  Dims dims;
  size_t fixed = 0;
  for (size_t a = 0; a < inst.axes.size(); ++a) {
    const FreeAxis& axis = inst.axes[a];
    if (axis.count == 1) continue;
    const bool folded = a + inst.reduce_axes >= inst.axes.size();
    fixed += folded;
    std::vector<int64_t> strides;
    const auto column = [&](const TileOperand& operand) {
      const auto found = operand.access.stride.find(axis.axis);
      strides.push_back(operand.is_immediate || found == operand.access.stride.end() ? 0 : found->second);
    };
    for (const TileOperand& in : inst.ins) column(in);
    for (const TileOperand& out : inst.outs) column(out);
    dims.counts.push_back(axis.count);
    dims.strides.push_back(std::move(strides));
  }
  // Folded and kept dims never join; folded dims join among themselves.
  const size_t kept = dims.counts.size() - fixed;
  Dims outer, inner;
  for (size_t d = 0; d < dims.counts.size(); ++d) {
    Dims& part = d < kept ? outer : inner;
    part.counts.push_back(dims.counts[d]);
    part.strides.push_back(dims.strides[d]);
  }
  merge_dims(outer);
  merge_dims(inner);
  fixed = inner.counts.size();
  dims = outer;
  dims.counts.insert(dims.counts.end(), inner.counts.begin(), inner.counts.end());
  dims.strides.insert(dims.strides.end(), inner.strides.begin(), inner.strides.end());
  std::vector<affine::Ref> offsets;
  for (const TileOperand& in : inst.ins) offsets.push_back(in.access.offset);
  for (const TileOperand& out : inst.outs) offsets.push_back(out.access.offset);
  emit_dims(inst, std::move(dims), fixed, std::move(offsets));
}

void TileBuilder::emit_dims(const TileInst& inst, Dims dims, size_t fixed, std::vector<affine::Ref> offsets) {
  NCC_CHECK(static_cast<int>(fixed) <= inst.max_dims, "{}: a fold over {} dims", name_, fixed);
  if (static_cast<int>(dims.counts.size()) > inst.max_dims) {
    const affine::Ref step = open_loop("r", dims.counts.front());
    for (size_t k = 0; k < offsets.size(); ++k)
      if (offsets[k] != nullptr)
        offsets[k] = affine().add(offsets[k], affine().mul(step, dims.strides.front()[k]));
    dims.counts.erase(dims.counts.begin());
    dims.strides.erase(dims.strides.begin());
    emit_dims(inst, std::move(dims), fixed, std::move(offsets));
    close_loop();
    return;
  }
  // Long elementwise work that no loop repeats is cut into pieces: the next instruction then starts on the
  // first piece, instead of waiting for the last element.
  constexpr int64_t kPiece = 512, kFewTrips = 4;
  const bool splits = inst.opcode == bir::Opcode::TensorTensor ||
                      inst.opcode == bir::Opcode::TensorScalarPtr || inst.opcode == bir::Opcode::TensorCopy ||
                      (inst.opcode == bir::Opcode::Activation && inst.outs.size() == 1);
  int64_t inner = 1;
  for (size_t d = 1; d < dims.counts.size(); ++d) inner *= dims.counts[d];
  if (splits && trips() <= kFewTrips && !dims.counts.empty() && inner * dims.counts[0] >= 2 * kPiece) {
    int64_t piece = std::max<int64_t>(1, kPiece / inner);
    while (dims.counts[0] % piece != 0) --piece;
    if (piece < dims.counts[0] && piece * inner * 2 >= kPiece) {
      const affine::Ref step = open_loop("r", dims.counts[0] / piece);
      for (size_t k = 0; k < offsets.size(); ++k)
        if (offsets[k] != nullptr)
          offsets[k] = affine().add(offsets[k], affine().mul(step, piece * dims.strides[0][k]));
      dims.counts[0] = piece;
      emit_dims(inst, std::move(dims), fixed, std::move(offsets));
      close_loop();
      return;
    }
  }
  Inst::Tile tile;
  tile.opcode = inst.opcode;
  tile.engine = inst.engine;
  tile.attributes = inst.attributes;
  if (inst.opcode == bir::Opcode::TensorReduce && inst.attributes.axis != isa::Axis::C)
    tile.attributes.axis = static_cast<isa::Axis>(static_cast<int>(isa::Axis::X) +
                                                  static_cast<int>(std::max<size_t>(fixed, 1)) - 1);
  const auto column = [&](size_t k) {
    std::vector<int64_t> strides;
    for (const std::vector<int64_t>& row : dims.strides) strides.push_back(row[k]);
    return strides;
  };
  for (size_t k = 0; k < inst.ins.size(); ++k) {
    const TileOperand& in = inst.ins[k];
    if (in.is_immediate) {
      bir::Operand operand;
      operand.kind = bir::OperandKind::Immediate;
      operand.dtype = in.dtype;
      operand.bits = in.bits;
      tile.ins.push_back(operand);
      continue;
    }
    TileAccess access = in.access;
    access.offset = offsets[k];
    if (in.is_fixed)
      tile.ins.push_back(make_fixed(access, in.pattern));
    else
      tile.ins.push_back(make_operand(access, dims.counts, column(k)));
  }
  for (size_t k = 0; k < inst.outs.size(); ++k) {
    TileAccess access = inst.outs[k].access;
    access.offset = offsets[inst.ins.size() + k];
    if (inst.outs[k].is_fixed) {
      tile.outs.push_back(make_fixed(access, inst.outs[k].pattern));
      continue;
    }
    std::vector<int64_t> counts = dims.counts, strides = column(inst.ins.size() + k);
    if (inst.reduce_axes > 0) {
      counts.resize(counts.size() - fixed);
      strides.resize(counts.size());
    }
    tile.outs.push_back(make_operand(access, counts, strides));
  }
  append(std::move(tile));
}

void TileBuilder::emit_dma(const TileAccess& from, const TileAccess& to, const std::vector<FreeAxis>& axes) {
  TileInst inst;
  inst.opcode = from.space == Space::Dram && to.space != Space::Dram   ? bir::Opcode::Load
                : from.space != Space::Dram && to.space == Space::Dram ? bir::Opcode::Save
                                                                       : bir::Opcode::DMACopy;
  inst.engine = isa::Engine::DMA;
  inst.ins.push_back(TileOperand::tile(from));
  inst.outs.push_back(TileOperand::tile(to));
  inst.axes = axes;
  inst.max_dims = 4;
  emit(inst);
}

void TileBuilder::emit_transposing_load(const TileAccess& from, const std::vector<isa::Dim>& from_dims,
                                        const TileAccess& to, const std::vector<isa::Dim>& to_dims) {
  TileInst inst;
  inst.opcode = bir::Opcode::DMACopy;
  inst.engine = isa::Engine::DMA;
  inst.attributes.dma_transpose = true;
  inst.ins.push_back(TileOperand::per_partition(from));
  inst.ins.back().pattern = from_dims;
  inst.outs.push_back(TileOperand::per_partition(to));
  inst.outs.back().pattern = to_dims;
  emit(inst);
}

}  // namespace ncc::hlo_opt
