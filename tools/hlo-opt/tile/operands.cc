#include <algorithm>

#include "tools/hlo-opt/tile/lowering.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

// An index tile larger than this per partition is built as the sum of a row and a column.
constexpr int64_t kMaxIndexTileBytes = 16384;
// Parameters kept loaded from one cluster to the next may together take this share of SBUF.
constexpr int64_t kPinnedShare = 8;

// Steps of an affine expression over DRAM, largest first: the order in which a load visits its free axes.
std::vector<FreeAxis> by_descending_stride(const TileAccess& access, const std::vector<FreeAxis>& axes) {
  std::vector<FreeAxis> sorted;
  for (const FreeAxis& axis : axes)
    if (axis.count > 1 && access.stride.contains(axis.axis)) sorted.push_back(axis);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const FreeAxis& a, const FreeAxis& b) {
    return std::abs(access.stride.at(a.axis)) > std::abs(access.stride.at(b.axis));
  });
  return sorted;
}

}  // namespace

affine::Ref TileLowering::linear_index(const Operand& operand, const std::vector<int64_t>& shape) {
  affine::Context& context = builder_.affine();
  affine::Ref sum = context.constant(0);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    // The access belongs to the source module's context; rebuild it in ours.
    sum = context.add(
        sum, context.mul(context.make(operand.index[dim]->constant, operand.index[dim]->terms), stride));
    stride *= shape[dim];
  }
  return sum;
}

TileAccess TileLowering::dram_access(uint32_t i, const Operand& operand, AxisId partition) {
  NCC_CHECK(dram_[operand.tensor] != kNone, "{}: tensor {} has no DRAM copy", inst(i).name,
            function_.tensors[operand.tensor].name);
  const affine::Ref linear = linear_index(operand, function_.tensors[operand.tensor].shape);
  TileAccess access;
  access.tensor = dram_[operand.tensor];
  access.space = Space::Dram;
  access.dtype = function_.tensors[operand.tensor].dtype;
  access.offset = bind(linear);
  for (const affine::Term& term : linear->terms) {
    if (term.axis == partition)
      access.lane_step = term.coef;
    else if (range(term.axis).count > 1)
      access.stride[term.axis] = term.coef;
  }
  access.lanes = partition == kNone ? 1 : range(partition).count;
  return access;
}

TileAccess TileLowering::storage_access(const Storage& storage, uint32_t i, const Operand& operand,
                                        AxisId partition) {
  affine::Context& context = builder_.affine();
  TileAccess access;
  access.tensor = storage.tile;
  access.space = storage.space;
  access.dtype = storage.dtype;
  access.lanes = storage.partition_dim < 0 || partition == kNone ? 1 : range(partition).count;
  affine::Ref offset = context.constant(0);
  for (size_t dim = 0; dim < operand.index.size(); ++dim) {
    if (static_cast<int>(dim) == storage.partition_dim) continue;
    const affine::Ref expr = context.make(operand.index[dim]->constant, operand.index[dim]->terms);
    affine::Ref start = bind(expr);
    if (storage.origin[dim] != nullptr) start = context.add(start, context.mul(storage.origin[dim], -1));
    offset = context.add(offset, context.mul(start, storage.stride[dim]));
    for (const affine::Term& term : expr->terms) {
      if (range(term.axis).count > 1) access.stride[term.axis] += term.coef * storage.stride[dim];
    }
  }
  if (storage.block_stride > 0 && partition != kNone && range(partition).block != nullptr)
    offset = context.add(offset, context.mul(range(partition).block, storage.block_stride));
  access.offset = offset;
  std::erase_if(access.stride, [](const auto& entry) { return entry.second == 0; });
  NCC_CHECK(!access.stride.contains(partition), "{}: a free dim moves with the partition axis", inst(i).name);
  return access;
}

size_t TileLowering::home_level(affine::Ref expr) const {
  size_t level = cluster_.outer_level;
  for (const affine::Term& term : expr->terms) {
    if (cluster_.block->coef(term.axis) != 0) level = std::max(level, cluster_.block_level);
    if (cluster_.chunk_base != nullptr && cluster_.chunk_base->coef(term.axis) != 0)
      level = std::max(level, cluster_.chunk_level);
  }
  return level;
}

TileAccess TileLowering::operand_tile(uint32_t i, const Operand& operand, AxisId partition) {
  switch (classify_edge(function_, plan_, operand, partition)) {
    case EdgeKind::Aligned:
      return storage_access(storage_.at(operand.tensor), i, operand, partition);
    case EdgeKind::Transpose:
      return transposed_tile(i, operand, partition);
    case EdgeKind::Load:
    case EdgeKind::Replicate:
    case EdgeKind::Bounce:
      break;
  }
  return load_tile(i, operand, partition);
}

TileAccess TileLowering::load_tile(uint32_t i, const Operand& operand, AxisId partition) {
  TileAccess from = dram_access(i, operand, partition);
  std::vector<FreeAxis> axes;
  for (const IterationAxis& entry : inst(i).axes)
    if (entry.axis != partition) axes.push_back({entry.axis, range(entry.axis).count});
  const std::vector<FreeAxis> order = by_descending_stride(from, axes);

  const size_t level = home_level(from.offset);
  std::string key = fmt::format("{}@{}:{}x{}", from.tensor, static_cast<const void*>(from.offset),
                                from.lane_step, from.lanes);
  for (const FreeAxis& axis : order) key += fmt::format(",{}*{}", from.stride.at(axis.axis), axis.count);
  std::map<std::string, TileAccess>& cache = cache_of(level);
  TileAccess tile;
  tile.dtype = from.dtype;
  tile.lanes = from.lanes;
  tile.offset = builder_.constant(0);
  int64_t elements = 1;
  for (size_t k = order.size(); k-- > 0;) {
    tile.stride[order[k].axis] = elements;
    elements *= order[k].count;
  }
  if (const TileAccess* kept = find_kept(level, key)) {
    tile.tensor = kept->tensor;
    return tile;
  }
  builder_.at_level(level, [&] {
    tile.tensor = builder_.new_tile(function_.tensors[operand.tensor].name + ".sb", Space::Sbuf, tile.dtype,
                                    tile.lanes, elements, level);
    if (const FreeAxis* rows = exchanged_rows(from, order, true))
      load_exchanged(from, tile, order, *rows, false);
    else
      builder_.emit_dma(from, tile, order);
  });
  keep(cache, key, tile, operand.tensor, elements, level);
  return tile;
}

// A loaded tile serves again within its level. Outside all loops, parameters and constants stay for the
// clusters to come while a small share of SBUF holds them; anything else is forgotten with its cluster.
void TileLowering::keep(std::map<std::string, TileAccess>& cache, const std::string& key,
                        const TileAccess& tile, TensorId id, int64_t elements, size_t level) {
  const int64_t bytes = elements * size_bytes(tile.dtype);
  const Role role = function_.tensors[id].role;
  if (level == 0 && (role == Role::Input || role == Role::Const) &&
      pinned_bytes_ + bytes <= arch_.sbuf_bytes_per_partition / kPinnedShare) {
    pinned_bytes_ += bytes;
    pinned_[key] = tile;
  } else {
    cache[key] = tile;
  }
}

const TileAccess* TileLowering::find_kept(size_t level, const std::string& key) const {
  if (const auto pinned = pinned_.find(key); pinned != pinned_.end()) return &pinned->second;
  const auto cache = caches_.find(level);
  if (cache == caches_.end()) return nullptr;
  const auto found = cache->second.find(key);
  return found == cache->second.end() ? nullptr : &found->second;
}

TileAccess TileLowering::index_tile(uint32_t i, const Operand& operand, AxisId partition) {
  affine::Context& context = builder_.affine();
  const affine::Ref value = context.make(operand.value->constant, operand.value->terms);
  const int64_t lane_coef = partition == kNone ? 0 : value->coef(partition);
  const PartitionSplit split = partition_split(extent(partition));
  const int64_t blocks = lane_coef == 0 ? 1 : split.blocks();

  // The whole index space is built once, outside the cluster's loops; a block or chunk is then a slice of it.
  std::vector<FreeAxis> axes;
  int64_t elements = 1;
  std::map<AxisId, int64_t> stride;
  for (const affine::Term& term : value->terms)
    if (term.axis != partition) axes.push_back({term.axis, extent(term.axis)});
  for (size_t k = axes.size(); k-- > 0;) {
    stride[axes[k].axis] = elements;
    elements *= axes[k].count;
  }
  const auto emit_iota = [&](bool rows, bool lanes) {
    std::string key =
        fmt::format("iota:{}", lanes ? fmt::format("{}x{}*{}", lane_coef, split.lanes, blocks) : "-");
    int64_t base = value->constant;
    if (rows)
      for (const FreeAxis& axis : axes) key += fmt::format(",{}*{}", value->coef(axis.axis), axis.count);
    if (!rows && !axes.empty()) base = 0;
    key += fmt::format("+{}", base);
    const int64_t free = rows ? elements : 1;
    const int64_t held_blocks = lanes ? blocks : 1;
    TileAccess tile;
    tile.dtype = Dtype::S32;
    tile.lanes = 128;
    tile.offset = builder_.constant(0);
    if (const auto found = function_cache_.find(key); found != function_cache_.end()) return found->second;
    builder_.at_level(0, [&] {
      tile.tensor = builder_.new_tile("iota", Space::Sbuf, Dtype::S32, 128, free * held_blocks, 0);
      TileInst inst;
      inst.opcode = bir::Opcode::Iota;
      inst.engine = isa::Engine::Pool;
      inst.max_dims = 4;
      const AxisId block_axis = static_cast<AxisId>(function_.axes.size());
      std::vector<FreeAxis> order;
      TileAccess out = tile;
      if (held_blocks > 1) {
        order.push_back({block_axis, held_blocks});
        out.stride[block_axis] = free;
      }
      if (rows)
        for (const FreeAxis& axis : axes)
          if (axis.count > 1) {
            order.push_back(axis);
            out.stride[axis.axis] = stride[axis.axis];
          }
      NCC_CHECK(order.size() <= isa::kMaxFreeDims, "{}: an index over {} axes", this->inst(i).name,
                order.size());
      inst.attributes.base = static_cast<int32_t>(base);
      inst.attributes.channel_multiplier = lanes ? static_cast<int32_t>(lane_coef) : 0;
      for (const FreeAxis& axis : order)
        inst.attributes.pattern[inst.attributes.pattern_rank++] = {
            axis.axis == block_axis ? lane_coef * split.lanes : value->coef(axis.axis), axis.count};
      // The output is dense, so one contiguous pattern of as many elements serves.
      TileAccess dense = tile;
      const AxisId all = block_axis + 1;
      if (free * held_blocks > 1) dense.stride[all] = 1;
      inst.outs.push_back(TileOperand::tile(dense));
      inst.axes = {{all, free * held_blocks}};
      builder_.emit(inst);
    });
    function_cache_[key] = tile;
    return tile;
  };
  const auto slice = [&](TileAccess tile, bool rows, bool lanes) {
    tile.lanes = partition == kNone ? 1 : range(partition).count;
    affine::Ref offset = builder_.constant(0);
    if (rows)
      for (const FreeAxis& axis : axes) {
        offset = context.add(offset, context.mul(range(axis.axis).base, stride[axis.axis]));
        if (range(axis.axis).count > 1) tile.stride[axis.axis] = stride[axis.axis];
      }
    if (lanes && blocks > 1)
      offset = context.add(offset, context.mul(range(partition).block, rows ? elements : 1));
    tile.offset = offset;
    return tile;
  };
  const bool whole = elements * blocks * 4 <= kMaxIndexTileBytes || axes.empty() || lane_coef == 0;
  if (whole) return slice(emit_iota(true, lane_coef != 0), true, lane_coef != 0);

  const TileAccess row = slice(emit_iota(true, false), true, false);
  const TileAccess column = slice(emit_iota(false, true), false, true);
  TileAccess sum;
  sum.dtype = Dtype::S32;
  sum.lanes = row.lanes;
  sum.offset = builder_.constant(0);
  int64_t held = 1;
  std::vector<FreeAxis> local;
  for (const FreeAxis& axis : axes) local.push_back({axis.axis, range(axis.axis).count});
  for (size_t k = local.size(); k-- > 0;) {
    if (local[k].count > 1) sum.stride[local[k].axis] = held;
    held *= local[k].count;
  }
  sum.tensor = builder_.new_tile("index", Space::Sbuf, Dtype::S32, sum.lanes, held, builder_.level());
  TileInst add;
  add.opcode = bir::Opcode::TensorTensor;
  add.engine = isa::Engine::Pool;
  add.attributes.op0 = isa::AluOp::Add;
  add.ins = {TileOperand::tile(row), TileOperand::tile(column)};
  add.outs = {TileOperand::tile(sum)};
  add.axes = local;
  builder_.emit(add);
  return sum;
}

TileAccess TileLowering::constant_tile(Dtype dtype, uint64_t bits, int64_t lanes) {
  const std::string key = fmt::format("const:{}:{:x}", static_cast<int>(dtype), bits);
  TileAccess tile;
  tile.dtype = dtype;
  tile.offset = builder_.constant(0);
  tile.lanes = 128;
  if (const auto found = function_cache_.find(key); found != function_cache_.end()) {
    tile = found->second;
  } else {
    builder_.at_level(0, [&] {
      tile.tensor = builder_.new_tile("constant", Space::Sbuf, dtype, 128, 1, 0);
      emit_fill(tile, dtype, bits, {});
    });
    function_cache_[key] = tile;
  }
  tile.lanes = lanes;
  return tile;
}

TileAccess TileLowering::identity_tile(Dtype dtype) {
  const std::string key = fmt::format("identity:{}", static_cast<int>(dtype));
  if (const auto found = function_cache_.find(key); found != function_cache_.end()) return found->second;
  TileAccess tile;
  tile.dtype = dtype;
  tile.lanes = 128;
  tile.offset = builder_.constant(0);
  const AxisId column = static_cast<AxisId>(function_.axes.size());
  builder_.at_level(0, [&] {
    tile.tensor = builder_.new_tile("identity", Space::Sbuf, dtype, 128, 128, 0);
    TileAccess ones = tile;
    ones.tensor = builder_.new_tile("ones", Space::Sbuf, dtype, 128, 128, 0);
    ones.stride[column] = 1;
    tile.stride[column] = 1;
    uint64_t one = 0;
    store_from_double(dtype, &one, 1.0);
    emit_fill(ones, dtype, one, {{column, 128}});
    TileInst select;
    select.opcode = bir::Opcode::TensorScalarAffineSelect;
    select.engine = isa::Engine::Pool;
    select.attributes.channel_multiplier = 1;
    select.attributes.pattern_rank = 1;
    select.attributes.pattern[0] = {-1, 128};
    select.attributes.compare_op = isa::AluOp::IsEqual;
    select.attributes.fill = 0.0f;
    select.ins = {TileOperand::tile(ones)};
    select.outs = {TileOperand::tile(tile)};
    select.axes = {{column, 128}};
    builder_.emit(select);
  });
  tile.stride.clear();
  function_cache_[key] = tile;
  return tile;
}

TileAccess TileLowering::transposed_tile(uint32_t i, const Operand& operand, AxisId partition) {
  const TensorId id = operand.tensor;
  const Tensor& tensor = function_.tensors[id];
  Storage held = storage_.at(id);
  affine::Context& context = builder_.affine();
  int wanted = -1;
  if (partition != kNone)
    for (size_t dim = 0; dim < operand.index.size(); ++dim)
      if (operand.index[dim]->coef(partition) != 0) wanted = static_cast<int>(dim);
  // Produced in this very block (whether or not it also outlives it): only the block's own lanes exist yet.
  bool local = false;
  for (uint32_t producer : plan_.tensors[id].producers)
    local = local || plan_.insts[producer].cluster == plan_.insts[i].cluster;
  const std::string key = fmt::format("transpose:{}:{}", id, wanted);
  // Of a tensor that is produced chunk by chunk only the current chunk exists yet, and it stands inside the
  // loop over chunks.
  bool chunked = false;
  affine::Ref from_start = builder_.constant(0);
  for (size_t dim = 0; local && cluster_.chunk_base != nullptr && dim < held.origin.size(); ++dim) {
    const uint32_t producer = plan_.tensors[id].producers.front();
    const auto axis = cluster_.chunk->axis.find(producer);
    if (axis == cluster_.chunk->axis.end() || inst(producer).result.index[dim]->coef(axis->second) == 0)
      continue;
    chunked = true;
    if (held.origin[dim] != nullptr) continue;
    held.origin[dim] = cluster_.chunk_base;
    held.extent[dim] = cluster_.chunk_count;
    from_start = context.mul(cluster_.chunk_base, held.stride[dim]);
  }
  const size_t home = chunked ? cluster_.inst_level : cluster_.block_level;
  std::map<std::string, TileAccess>& cache = local ? cache_of(home) : function_cache_;

  Storage turned;
  turned.dtype = held.dtype;
  turned.partition_dim = wanted;
  turned.stride.assign(tensor.shape.size(), 0);
  turned.origin = held.origin;
  turned.extent = held.extent;
  const int from_dim = held.partition_dim;
  const PartitionSplit from_split =
      from_dim < 0 ? PartitionSplit{1, 1, 0} : partition_split(tensor.shape[from_dim]);
  const PartitionSplit to_split =
      wanted < 0 ? PartitionSplit{1, 1, 0} : partition_split(tensor.shape[wanted]);
  // The exchanged dim lies innermost: a block's copy out of PSUM then writes neighbours, and a matmul reads
  // them.
  int64_t elements = 1;
  if (from_dim >= 0) {
    turned.stride[from_dim] = 1;
    elements = local ? cluster_.lanes : tensor.shape[from_dim];
    if (local) turned.origin[from_dim] = context.mul(cluster_.block, from_split.lanes);
  }
  for (size_t dim = tensor.shape.size(); dim-- > 0;) {
    if (static_cast<int>(dim) == wanted || static_cast<int>(dim) == from_dim) continue;
    turned.stride[dim] = elements;
    elements *= held.extent[dim];
  }
  turned.lanes = to_split.lanes;
  if (wanted >= 0) {
    turned.block_stride = elements;
    elements *= to_split.blocks();
  }
  last_turned_block_stride_ = turned.block_stride;
  if (const auto found = cache.find(key); found != cache.end()) {
    turned.tile = found->second.tensor;
    return storage_access(turned, i, operand, partition);
  }

  const size_t level = local ? home : cluster_.outer_level;
  const size_t owner = local ? home : 0;
  builder_.at_level(level, [&] {
    turned.tile =
        builder_.new_tile(tensor.name + ".t", Space::Sbuf, turned.dtype, turned.lanes, elements, owner);
    // Two axes of our own name the row and the column of a block; the other dims are loops.
    const AxisId row = static_cast<AxisId>(function_.axes.size()), column = row + 1;
    affine::Ref from_base = from_start, to_base = builder_.constant(0);
    size_t opened = 0;
    for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
      if (static_cast<int>(dim) == wanted || static_cast<int>(dim) == from_dim || tensor.shape[dim] == 1)
        continue;
      const affine::Ref step = builder_.open_loop("x", held.extent[dim]);
      ++opened;
      from_base = context.add(from_base, context.mul(step, held.stride[dim]));
      to_base = context.add(to_base, context.mul(step, turned.stride[dim]));
    }
    const auto block = [&](affine::Ref from_block, int64_t from_lanes, affine::Ref to_block,
                           int64_t to_lanes) {
      TileAccess from;
      from.tensor = held.tile;
      from.space = held.space;
      from.dtype = held.dtype;
      from.lanes = from_lanes;
      from.offset = from_base;
      from.offset = context.add(from.offset, context.mul(from_block, held.block_stride));
      if (wanted >= 0) {
        from.offset = context.add(from.offset, context.mul(to_block, to_split.lanes * held.stride[wanted]));
        from.stride[column] = held.stride[wanted];
      }
      TileAccess to;
      to.tensor = turned.tile;
      to.dtype = turned.dtype;
      to.lanes = to_lanes;
      to.offset = context.add(to_base, context.mul(to_block, turned.block_stride));
      if (from_dim >= 0) {
        if (!local)
          to.offset =
              context.add(to.offset, context.mul(from_block, from_split.lanes * turned.stride[from_dim]));
        to.stride[row] = turned.stride[from_dim];
      }
      emit_transpose(from, from_lanes, to, to_lanes, row, column, inst(i).op == TensorOp::Contract);
    };
    const auto to_blocks = [&](affine::Ref from_block, int64_t from_lanes) {
      const affine::Ref to_block = builder_.open_loop("t", to_split.full_blocks);
      block(from_block, from_lanes, to_block, to_split.lanes);
      builder_.close_loop();
      if (to_split.remainder > 0)
        block(from_block, from_lanes, builder_.constant(to_split.full_blocks), to_split.remainder);
    };
    if (local) {
      to_blocks(cluster_.block, cluster_.lanes);
    } else {
      const affine::Ref from_block = builder_.open_loop("s", from_split.full_blocks);
      to_blocks(from_block, from_split.lanes);
      builder_.close_loop();
      if (from_split.remainder > 0)
        to_blocks(builder_.constant(from_split.full_blocks), from_split.remainder);
    }
    for (; opened > 0; --opened) builder_.close_loop();
  });
  TileAccess entry;
  entry.tensor = turned.tile;
  cache[key] = entry;
  return storage_access(turned, i, operand, partition);
}

}  // namespace ncc::hlo_opt
