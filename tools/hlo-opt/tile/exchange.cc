// Swapping the partitions of a tile with one of its free axes: on PE, on DVE, or on the way from and to DRAM.
#include <algorithm>

#include "tools/hlo-opt/tile/lowering.h"

namespace ncc::hlo_opt {

using namespace penguin;

// The same on DVE, exact for every type: 32 x 32 blocks, each moved to its mirrored place. What is not whole
// blocks side by side goes through a padded copy; padding is cleared, never read uninitialised.
void TileLowering::emit_vector_transpose(const TileAccess& from, int64_t from_lanes, const TileAccess& to,
                                         int64_t to_lanes, AxisId row, AxisId column) {
  constexpr int64_t kBlock = 32;
  const auto padded = [](int64_t n) { return (n + kBlock - 1) / kBlock * kBlock; };
  const int64_t rows = padded(from_lanes), columns = padded(to_lanes);
  const auto scratch = [&](std::string_view name, int64_t lanes, int64_t elements) {
    TileAccess tile;
    tile.dtype = from.dtype;
    tile.lanes = lanes;
    tile.offset = builder_.constant(0);
    tile.tensor = builder_.new_tile(name, Space::Sbuf, from.dtype, lanes, elements, builder_.level());
    return tile;
  };
  const bool whole = rows == from_lanes && columns == to_lanes;
  const auto in_blocks = [&](const TileAccess& tile, AxisId axis) {
    return whole && tile.space == Space::Sbuf && tile.partition == 0 && tile.dtype == from.dtype &&
           tile.stride.contains(axis) && tile.stride.at(axis) == 1;
  };
  TileAccess source = from;
  if (!in_blocks(from, column)) {
    source = scratch("blocks", rows, columns);
    source.stride = {{column, 1}};
    if (!whole) emit_fill(source, source.dtype, 0, {{column, columns}});
    source.lanes = from_lanes;
    emit_copy(from, source, {{column, to_lanes}});
  }
  const bool in_place = in_blocks(to, row);
  TileAccess turned = in_place ? to : scratch("turned", columns, rows);
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < columns; c += kBlock) {
      TileAccess in = source, out = turned;
      in.lanes = out.lanes = kBlock;
      in.partition = r;
      in.offset = builder_.affine().add(source.offset, builder_.constant(c));
      out.partition = c;
      out.offset = builder_.affine().add(turned.offset, builder_.constant(r));
      in.stride = out.stride = {{column, 1}};
      TileInst block;
      block.opcode = bir::Opcode::StreamTranspose;
      block.engine = isa::Engine::DVE;
      block.ins = {TileOperand::tile(in)};
      block.outs = {TileOperand::tile(out)};
      block.axes = {{column, kBlock}};
      builder_.emit(block);
    }
  }
  if (in_place) return;
  turned.lanes = to_lanes;
  turned.stride = {{row, 1}};
  emit_copy(turned, to, {{row, from_lanes}});
}

// Exchanges the roles of partitions and one free axis for one block: to[column lane, row] = from[row lane,
// column].
void TileLowering::emit_transpose(const TileAccess& from, int64_t from_lanes, const TileAccess& to,
                                  int64_t to_lanes, AxisId row, AxisId column, bool for_contract) {
  // An identity product is exact for finite values alone; only a contraction, which mixes the block anyway,
  // may use it, and --precise-transpose forbids that too (C7).
  const bool may_multiply = for_contract && is_float(from.dtype) && !precise_transpose_;
  if (!arch_.has_pe_transpose && !may_multiply) {
    emit_vector_transpose(from, from_lanes, to, to_lanes, row, column);
    return;
  }
  const int64_t bytes = size_bytes(from.dtype);
  const bool through_f32 = !arch_.has_pe_transpose;
  Dtype moved = from.dtype;
  TileAccess source = from, target = to;
  if (bytes == 1) {
    // One-byte elements pass through PE as exact small numbers.
    moved = Dtype::BF16;
    source.tensor = builder_.new_tile("widened", Space::Sbuf, moved, from_lanes, to_lanes, builder_.level());
    source.dtype = moved;
    source.offset = builder_.constant(0);
    source.stride = {{column, 1}};
    emit_copy(from, source, {{column, to_lanes}});
  } else if (!is_float(from.dtype)) {
    moved = bytes == 4 ? Dtype::F32 : Dtype::BF16;  // raw bits; PE moves them unchanged
    source.dtype = moved;
    target.dtype = moved;
  }
  const Dtype psum_dtype = through_f32 ? Dtype::F32 : moved;
  TileAccess psum;
  psum.space = Space::Psum;
  psum.dtype = psum_dtype;
  psum.lanes = to_lanes;
  psum.offset = builder_.constant(0);
  psum.tensor =
      builder_.new_tile("exchange", Space::Psum, psum_dtype, to_lanes, from_lanes, builder_.level());
  TileAccess identity = identity_tile(moved);
  identity.lanes = from_lanes;

  TileInst matmul;
  matmul.opcode = bir::Opcode::Matmult;
  matmul.engine = isa::Engine::PE;
  matmul.attributes.accumulation_flag = 3;
  source.lanes = from_lanes;
  const int64_t column_step = source.stride.contains(column) ? source.stride.at(column) : 0;
  const auto fixed = [](TileAccess access, int64_t step, int64_t count) {
    TileOperand operand = TileOperand::per_partition(std::move(access));
    operand.pattern = {{step, count}};
    return operand;
  };
  if (arch_.has_pe_transpose) {
    matmul.attributes.is_transpose = true;
    matmul.ins = {fixed(source, column_step, to_lanes), fixed(identity, 1, from_lanes)};
  } else {
    matmul.ins = {fixed(identity, 1, from_lanes), fixed(source, column_step, to_lanes)};
  }
  matmul.outs = {fixed(psum, 1, from_lanes)};
  builder_.emit(matmul);
  psum.stride = {{row, 1}};
  if (!target.stride.contains(row) && from_lanes > 1) target.stride[row] = 0;
  target.lanes = to_lanes;
  emit_copy(psum, target, {{row, from_lanes}});
}

// When the partition axis lies innermost in DRAM, a plain transfer would move single elements: the free axis
// that it should move as rows instead; null when the elements cost less.
const FreeAxis* TileLowering::exchanged_rows(const TileAccess& dram, const std::vector<FreeAxis>& order,
                                             bool is_load) const {
  // ns; their only use is to compare the two ways. A block is one product and its copy, or on DVE its 32 x 32
  // parts and two copies; before the first block and after the last one stand another DMA or copy.
  constexpr double kPeBlock = 150, kVectorPart = 70, kVectorBlock = 300, kPeStart = 100, kVectorStart = 400;
  constexpr int64_t kRows = 128, kPart = 32, kElementBytes = 512;
  const int64_t size = size_bytes(dram.dtype);
  if (std::abs(dram.lane_step) != 1 || dram.lanes < 2 || size < 2) return nullptr;
  const FreeAxis* rows = nullptr;
  int64_t elements = dram.lanes;
  for (const FreeAxis& axis : order) {
    elements *= axis.count;
    if (rows == nullptr || axis.count > rows->count) rows = &axis;
  }
  if (rows == nullptr || rows->count < 2) return nullptr;
  if (is_load && arch_.has_dma_transpose) return rows;
  const auto parts = [](int64_t n, int64_t of) { return (n + of - 1) / of; };
  const double repeats = static_cast<double>(elements / dram.lanes / rows->count);
  const double block =
      arch_.has_pe_transpose
          ? static_cast<double>(parts(rows->count, kRows)) * kPeBlock
          : static_cast<double>(parts(rows->count, kPart) * parts(dram.lanes, kPart)) * kVectorPart +
                static_cast<double>(parts(rows->count, kRows)) * kVectorBlock;
  // Eight partitions share a DMA engine (DESIGN section 14, M3).
  const int64_t engines = std::min<int64_t>(arch_.dma_engines, parts(dram.lanes, 8));
  const double direct =
      static_cast<double>(elements * kElementBytes) / static_cast<double>(engines * arch_.dma_bytes_per_ns);
  return direct > repeats * block + (arch_.has_pe_transpose ? kPeStart : kVectorStart) ? rows : nullptr;
}

// Loads [rows, lanes contiguous] so that the lanes end on partitions: a transposing DMA where the target has
// one, else a load in natural order and an exchange on PE per 128 rows.
void TileLowering::load_exchanged(const TileAccess& from, const TileAccess& to,
                                  const std::vector<FreeAxis>& order, const FreeAxis& rows,
                                  bool for_contract) {
  affine::Context& context = builder_.affine();
  affine::Ref from_offset = from.offset, to_offset = to.offset;
  size_t opened = 0;
  for (const FreeAxis& axis : order) {
    if (axis.axis == rows.axis) continue;
    const affine::Ref step = builder_.open_loop("x", axis.count);
    ++opened;
    from_offset = context.add(from_offset, context.mul(step, from.stride.at(axis.axis)));
    to_offset = context.add(to_offset, context.mul(step, to.stride.at(axis.axis)));
  }
  const int64_t from_step = from.stride.at(rows.axis), to_step = to.stride.at(rows.axis);
  if (arch_.has_dma_transpose) {
    // The source keeps its order, rows outermost; the target visits [lane, row] with the two swapped.
    TileAccess source = from;
    source.offset = from_offset;
    source.lanes = 1;
    TileAccess target = to;
    target.offset = to_offset;
    builder_.emit_transposing_load(source, {{from_step, rows.count}, {from.lane_step, to.lanes}}, target,
                                   {{to_step, rows.count}});
  } else {
    constexpr int64_t kRows = 128;
    const AxisId row = static_cast<AxisId>(function_.axes.size()), column = row + 1;
    const auto block = [&](affine::Ref index, int64_t lanes) {
      TileAccess source = from;
      source.lanes = lanes;
      source.lane_step = from_step;
      source.offset = context.add(from_offset, context.mul(index, kRows * from_step));
      source.stride = {{column, from.lane_step}};
      TileAccess natural;
      natural.dtype = from.dtype;
      natural.lanes = lanes;
      natural.offset = builder_.constant(0);
      natural.stride = {{column, 1}};
      natural.tensor =
          builder_.new_tile("natural", Space::Sbuf, from.dtype, lanes, to.lanes, builder_.level());
      builder_.emit_dma(source, natural, {{column, to.lanes}});
      TileAccess target = to;
      target.offset = context.add(to_offset, context.mul(index, kRows * to_step));
      target.stride = {{row, to_step}};
      emit_transpose(natural, lanes, target, to.lanes, row, column, for_contract);
    };
    const affine::Ref index = builder_.open_loop("n", rows.count / kRows);
    if (rows.count / kRows > 0) block(index, kRows);
    builder_.close_loop();
    if (rows.count % kRows > 0) block(builder_.constant(rows.count / kRows), rows.count % kRows);
  }
  for (; opened > 0; --opened) builder_.close_loop();
}

// Stores a tile whose lanes lie innermost in DRAM: 128 rows at a time are exchanged on chip and stored as
// they lie.
void TileLowering::store_exchanged(const TileAccess& from, const TileAccess& to,
                                   const std::vector<FreeAxis>& order, const FreeAxis& rows) {
  affine::Context& context = builder_.affine();
  affine::Ref from_offset = from.offset, to_offset = to.offset;
  size_t opened = 0;
  for (const FreeAxis& axis : order) {
    if (axis.axis == rows.axis || axis.count == 1) continue;
    const affine::Ref step = builder_.open_loop("x", axis.count);
    ++opened;
    const auto move = [&](affine::Ref offset, const TileAccess& access) {
      const auto stride = access.stride.find(axis.axis);
      return stride == access.stride.end() ? offset : context.add(offset, context.mul(step, stride->second));
    };
    from_offset = move(from_offset, from);
    to_offset = move(to_offset, to);
  }
  constexpr int64_t kRows = 128;
  const int64_t from_step = from.stride.at(rows.axis), to_step = to.stride.at(rows.axis);
  const AxisId row = static_cast<AxisId>(function_.axes.size()), column = row + 1;
  const auto block = [&](affine::Ref index, int64_t count) {
    TileAccess source = from;
    source.offset = context.add(from_offset, context.mul(index, kRows * from_step));
    source.stride = {{column, from_step}};
    TileAccess natural;
    natural.dtype = from.dtype;
    natural.lanes = count;
    natural.offset = builder_.constant(0);
    natural.stride = {{row, 1}};
    natural.tensor =
        builder_.new_tile("natural", Space::Sbuf, from.dtype, count, from.lanes, builder_.level());
    emit_transpose(source, from.lanes, natural, count, row, column, false);
    TileAccess target = to;
    target.lanes = count;
    target.lane_step = to_step;
    target.offset = context.add(to_offset, context.mul(index, kRows * to_step));
    target.stride = {{row, to.lane_step}};
    builder_.emit_dma(natural, target, {{row, from.lanes}});
  };
  const affine::Ref index = builder_.open_loop("n", rows.count / kRows);
  if (rows.count / kRows > 0) block(index, kRows);
  builder_.close_loop();
  if (rows.count % kRows > 0) block(builder_.constant(rows.count / kRows), rows.count % kRows);
  for (; opened > 0; --opened) builder_.close_loop();
}

}  // namespace ncc::hlo_opt
