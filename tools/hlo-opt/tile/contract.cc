// Contractions as matmuls. The operand that owns the result's partition axis is stationary, [K lanes, up to
// 128 columns]; the other one moves, [K lanes, up to 512 elements]; every product of a (batch,
// stationary-side) index is one accumulation group in a PSUM bank over all blocks of all contracted axes.
// When the whole result tile fits one bank, its readers take it from PSUM; else it is copied out.
#include <algorithm>

#include "tools/hlo-opt/tile/lowering.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

int64_t count_elements(const std::vector<FreeAxis>& axes) {
  int64_t count = 1;
  for (const FreeAxis& axis : axes) count *= axis.count;
  return count;
}

}  // namespace

// All K blocks of one operand side by side: [K lanes, K blocks x free]; the returned access stands at block
// 0.
TileLowering::Panel TileLowering::operand_panel(uint32_t i, const Operand& operand) {
  const AxisId contract = plan_.insts[i].contract;
  Panel panel;
  panel.split = partition_split(extent(contract));
  if (operand.kind == Operand::Kind::Scalar) {
    panel.access = constant_tile(operand.dtype, operand.scalar, panel.split.lanes);
    return panel;
  }
  const Range saved = environment_.at(contract);
  environment_[contract] = {builder_.constant(0), panel.split.lanes, builder_.constant(0)};
  switch (classify_edge(function_, plan_, operand, contract)) {
    case EdgeKind::Aligned:
      panel.access = storage_access(storage_.at(operand.tensor), i, operand, contract);
      panel.block_step = storage_.at(operand.tensor).block_stride;
      break;
    case EdgeKind::Transpose: {
      panel.access = transposed_tile(i, operand, contract);
      panel.block_step = last_turned_block_stride_;
      break;
    }
    case EdgeKind::Load:
    case EdgeKind::Replicate:
    case EdgeKind::Bounce: {
      // The side that no block changes is loaded once for all chunks, while it fits.
      const AxisId chunked = whole_panel_axis(i, operand);
      if (chunked == kNone) {
        load_panel(i, operand, panel);
        break;
      }
      const Range cut = environment_.at(chunked);
      environment_[chunked] = {builder_.constant(0), extent(chunked), nullptr};
      load_panel(i, operand, panel);
      environment_[chunked] = cut;
      if (panel.access.stride.contains(chunked))
        panel.access.offset = builder_.affine().add(
            panel.access.offset, builder_.affine().mul(cut.base, panel.access.stride.at(chunked)));
      break;
    }
  }
  environment_[contract] = saved;
  return panel;
}

// The chunked axis, when the operand should be loaded along all of it at once; kNone otherwise.
AxisId TileLowering::whole_panel_axis(uint32_t i, const Operand& operand) {
  if (!cluster_.chunk || cluster_.chunk->outermost || cluster_.chunk_base == nullptr) return kNone;
  const auto found = cluster_.chunk->axis.find(i);
  if (found == cluster_.chunk->axis.end()) return kNone;
  if (moving_panel_bytes(i) > arch_.sbuf_bytes_per_partition / 2) return kNone;
  bool varies = false;
  for (const affine::Ref expr : operand.index) {
    varies = varies || expr->coef(found->second) != 0;
    if (plan_.insts[i].partition != kNone && expr->coef(plan_.insts[i].partition) != 0) return kNone;
  }
  return varies ? found->second : kNone;
}

void TileLowering::load_panel(uint32_t i, const Operand& operand, Panel& panel) {
  affine::Context& context = builder_.affine();
  const AxisId contract = plan_.insts[i].contract;
  const TileAccess from = dram_access(i, operand, contract);
  std::vector<FreeAxis> order;
  for (const IterationAxis& entry : inst(i).axes)
    if (entry.axis != contract && range(entry.axis).count > 1 && from.stride.contains(entry.axis))
      order.push_back({entry.axis, range(entry.axis).count});
  std::stable_sort(order.begin(), order.end(), [&](const FreeAxis& a, const FreeAxis& b) {
    return std::abs(from.stride.at(a.axis)) > std::abs(from.stride.at(b.axis));
  });
  TileAccess tile;
  tile.dtype = from.dtype;
  tile.lanes = panel.split.lanes;
  tile.offset = builder_.constant(0);
  int64_t elements = 1;
  for (size_t k = order.size(); k-- > 0;) {
    tile.stride[order[k].axis] = elements;
    elements *= order[k].count;
  }
  panel.block_step = elements;
  const size_t level = home_level(from.offset);
  std::string key = fmt::format("panel:{}@{}:{}", from.tensor, static_cast<const void*>(from.offset),
                                from.lane_step, from.lanes);
  for (const FreeAxis& axis : order) key += fmt::format(",{}*{}", from.stride.at(axis.axis), axis.count);
  std::map<std::string, TileAccess>& cache = cache_of(level);
  if (const TileAccess* kept = find_kept(level, key)) {
    tile.tensor = kept->tensor;
    panel.access = tile;
    return;
  }
  builder_.at_level(level, [&] {
    tile.tensor = builder_.new_tile(function_.tensors[operand.tensor].name + ".sb", Space::Sbuf, tile.dtype,
                                    tile.lanes, elements * panel.split.blocks(), level);
    const FreeAxis* rows = exchanged_rows(from, order, true);
    const auto block = [&](affine::Ref index, int64_t lanes) {
      TileAccess source = from, target = tile;
      source.offset = context.add(source.offset, context.mul(index, panel.split.lanes * from.lane_step));
      target.offset = context.add(target.offset, context.mul(index, panel.block_step));
      source.lanes = target.lanes = lanes;
      if (rows != nullptr)
        load_exchanged(source, target, order, *rows, true);
      else
        builder_.emit_dma(source, target, order);
    };
    const affine::Ref index = builder_.open_loop("k", panel.split.full_blocks);
    block(index, panel.split.lanes);
    builder_.close_loop();
    if (panel.split.remainder > 0) block(builder_.constant(panel.split.full_blocks), panel.split.remainder);
  });
  keep(cache, key, tile, operand.tensor, elements * panel.split.blocks(), level);
  panel.access = tile;
}

Status TileLowering::lower_contract(uint32_t i) {
  const Inst& in = inst(i);
  const InstPlan& plan = plan_.insts[i];
  if (plan.partition == kNone || plan.contract == kNone)
    return error(Code::EINT901, in.loc, "layout",
                 fmt::format("{}: a contraction without free or contracted axes", in.name));
  const Operand& stationary_operand = in.operands[plan.lhs_stationary ? 0 : 1];
  const Operand& moving_operand = in.operands[plan.lhs_stationary ? 1 : 0];
  const AxisRole moving_role = plan.lhs_stationary ? AxisRole::RhsFree : AxisRole::LhsFree;
  if ((size_bytes(stationary_operand.dtype) == 4) != (size_bytes(moving_operand.dtype) == 4) ||
      !is_float(stationary_operand.dtype) || !is_float(moving_operand.dtype))
    return error(Code::EVRF002, in.loc, info(stationary_operand.dtype).hlo,
                 fmt::format("a contraction with {}", info(moving_operand.dtype).hlo));
  const Panel stationary = operand_panel(i, stationary_operand);
  const Panel moving = operand_panel(i, moving_operand);

  // Result axes: moving ones innermost, in the result's order.
  std::vector<FreeAxis> domain, moving_axes;
  for (const FreeAxis& axis : free_axes(i))
    (in.role(axis.axis) == moving_role ? moving_axes : domain).push_back(axis);
  domain.insert(domain.end(), moving_axes.begin(), moving_axes.end());

  // The longest suffix of the domain that fits one bank, and the part of the next axis that still does.
  const int64_t bank = arch_.max_moving_free;
  size_t whole = domain.size();
  int64_t inside = 1;
  while (whole > 0 && inside * domain[whole - 1].count <= bank) inside *= domain[--whole].count;
  int64_t chunk = whole > 0 ? std::max<int64_t>(1, bank / inside) : 1;
  if (whole > 0)
    for (int64_t divisor = chunk; divisor * 2 > chunk && divisor > 0; --divisor)
      if (domain[whole - 1].count % divisor == 0) {
        chunk = divisor;
        break;
      }

  const TensorId id = in.result.tensor;
  const bool read_in_psum = whole == 0 && reads_allow_psum(i);
  const TileAccess result = read_in_psum ? TileAccess{} : result_access(i);
  ContractTile tile{i, &stationary, &moving, {}, {}};

  const auto bank_tile = [&](const std::vector<FreeAxis>& axes) {
    TileAccess psum;
    psum.space = Space::Psum;
    psum.dtype = Dtype::F32;
    psum.lanes = range(plan.partition).count;
    psum.offset = builder_.constant(0);
    int64_t elements = 1;
    for (size_t k = axes.size(); k-- > 0;) {
      if (axes[k].count > 1) psum.stride[axes[k].axis] = elements;
      elements *= axes[k].count;
    }
    psum.tensor = builder_.new_tile(function_.tensors[id].name + ".ps", Space::Psum, Dtype::F32, psum.lanes,
                                    elements, builder_.level());
    return psum;
  };
  if (read_in_psum) {
    tile.axes = domain;
    tile.psum = bank_tile(domain);
    NCC_TRY(emit_groups(tile));
    Storage storage;
    storage.tile = tile.psum.tensor;
    storage.space = Space::Psum;
    storage.dtype = Dtype::F32;
    storage.partition_dim = plan_.tensors[id].partition_dim;
    storage.lanes = tile.psum.lanes;
    storage.stride.assign(in.result.index.size(), 0);
    storage.origin.assign(in.result.index.size(), nullptr);
    storage.extent = function_.tensors[id].shape;
    for (size_t dim = 0; dim < in.result.index.size(); ++dim)
      for (const affine::Term& term : in.result.index[dim]->terms)
        storage.extent[dim] = range(term.axis).count;
    for (size_t dim = 0; dim < in.result.index.size(); ++dim)
      for (const affine::Term& term : in.result.index[dim]->terms) {
        if (tile.psum.stride.contains(term.axis)) storage.stride[dim] = tile.psum.stride.at(term.axis);
        storage.origin[dim] =
            bind(builder_.affine().make(in.result.index[dim]->constant, in.result.index[dim]->terms));
      }
    storage_[id] = std::move(storage);
    return Status::ok();
  }

  // Loops over what does not fit the bank; the narrowed ranges stand in the environment while a bank is
  // filled and copied out.
  const Environment saved = environment_;
  size_t opened = 0;
  std::vector<FreeAxis> axes(domain.begin() + static_cast<int64_t>(whole), domain.end());
  for (size_t k = 0; k + 1 < whole; ++k) {
    const affine::Ref step = builder_.open_loop("b", domain[k].count);
    ++opened;
    environment_[domain[k].axis] = {builder_.affine().add(saved.at(domain[k].axis).base, step), 1, nullptr};
  }
  const auto fill = [&](affine::Ref base, int64_t count) -> Status {
    tile.axes = axes;
    if (whole > 0) {
      const AxisId cut = domain[whole - 1].axis;
      environment_[cut] = {builder_.affine().add(saved.at(cut).base, base), count, nullptr};
      tile.axes.insert(tile.axes.begin(), {cut, count});
    }
    tile.psum = bank_tile(tile.axes);
    NCC_TRY(emit_groups(tile));
    TileAccess out = result;
    for (const auto& [axis, old] : saved) {
      const Range& now = environment_.at(axis);
      if (now.base == old.base || !out.stride.contains(axis)) continue;
      const affine::Ref moved = builder_.affine().add(now.base, builder_.affine().mul(old.base, -1));
      out.offset = builder_.affine().add(out.offset, builder_.affine().mul(moved, out.stride.at(axis)));
    }
    emit_copy(tile.psum, out, tile.axes);
    return Status::ok();
  };
  if (whole == 0) {
    NCC_TRY(fill(nullptr, 0));
  } else {
    const int64_t total = domain[whole - 1].count;
    const affine::Ref step = builder_.open_loop("c", total / chunk);
    NCC_TRY(fill(builder_.affine().mul(step, chunk), chunk));
    builder_.close_loop();
    if (total % chunk > 0) NCC_TRY(fill(builder_.constant(total / chunk * chunk), total % chunk));
  }
  for (; opened > 0; --opened) builder_.close_loop();
  environment_ = saved;
  finish_result(i, result);
  return Status::ok();
}

bool TileLowering::reads_allow_psum(uint32_t i) const {
  const TensorId id = inst(i).result.tensor;
  const Tensor& tensor = function_.tensors[id];
  if (!plan_.tensors[id].on_chip || !is_block_scoped(id) || !is_float(tensor.dtype) || dram_[id] != kNone)
    return false;
  if (plan_.tensors[id].producers.size() != 1 || plan_.tensors[id].consumers.size() > 2) return false;
  for (uint32_t consumer : plan_.tensors[id].consumers) {
    const Inst& reader = inst(consumer);
    if (reader.op == TensorOp::Contract || reader.function == ScalarFunction::Int32 ||
        reader.function == ScalarFunction::Bitcast)
      return false;
    int from_psum = 0;
    for (const Operand& operand : reader.operands)
      if (operand.kind == Operand::Kind::Tensor &&
          (operand.tensor == id || inst(plan_.tensors[operand.tensor].producers.empty()
                                            ? consumer
                                            : plan_.tensors[operand.tensor].producers.front())
                                           .op == TensorOp::Contract))
        ++from_psum;
    if (from_psum > 1) return false;  // at most one operand of an instruction may come from PSUM
  }
  return true;
}

// One accumulation group per index of the bank's outer axes.
Status TileLowering::emit_groups(const ContractTile& tile) {
  const Inst& in = inst(tile.inst);
  const InstPlan& plan = plan_.insts[tile.inst];
  affine::Context& context = builder_.affine();
  const AxisRole moving_role = plan.lhs_stationary ? AxisRole::RhsFree : AxisRole::LhsFree;
  affine::Ref stationary_at = tile.stationary->access.offset, moving_at = tile.moving->access.offset,
              out_at = tile.psum.offset;
  std::vector<FreeAxis> moving_axes;
  size_t opened = 0;
  const auto shift = [&](affine::Ref& at, const TileAccess& access, AxisId axis, affine::Ref by) {
    if (access.stride.contains(axis)) at = context.add(at, context.mul(by, access.stride.at(axis)));
  };
  // What the environment narrowed since the panels were made.
  for (const auto& [axis, now] : environment_) {
    if (axis == plan.partition || axis == plan.contract) continue;
    const Range& full = block_environment_.at(axis);
    if (now.base == full.base) continue;
    const affine::Ref moved = context.add(now.base, context.mul(full.base, -1));
    shift(stationary_at, tile.stationary->access, axis, moved);
    shift(moving_at, tile.moving->access, axis, moved);
  }
  for (const FreeAxis& axis : tile.axes) {
    if (in.role(axis.axis) == moving_role) {
      moving_axes.push_back(axis);
      continue;
    }
    const affine::Ref step = builder_.open_loop("g", axis.count);
    ++opened;
    shift(stationary_at, tile.stationary->access, axis.axis, step);
    shift(moving_at, tile.moving->access, axis.axis, step);
    shift(out_at, tile.psum, axis.axis, step);
  }

  const auto matmul = [&](affine::Ref stationary_offset, affine::Ref moving_offset, int64_t lanes,
                          uint8_t flags, const std::vector<AxisId>& k_axes) {
    TileInst mm;
    mm.opcode = bir::Opcode::Matmult;
    mm.engine = isa::Engine::PE;
    mm.attributes.accumulation_flag = flags;
    mm.attributes.k_axes = k_axes;
    mm.attributes.group = next_group_;
    TileAccess moving = tile.moving->access, weights = tile.stationary->access, out = tile.psum;
    moving.offset = moving_offset;
    moving.lanes = weights.lanes = lanes;
    weights.offset = stationary_offset;
    out.offset = out_at;
    TileOperand stationary = TileOperand::per_partition(weights);
    const auto step = weights.stride.find(plan.partition);
    stationary.pattern = {{step == weights.stride.end() ? 0 : step->second, range(plan.partition).count}};
    mm.ins = {TileOperand::tile(moving), stationary};
    mm.outs = {TileOperand::tile(out)};
    mm.axes = moving_axes;
    builder_.emit(mm);
  };

  // The contracted axes: blocks of the one on partitions, then every index of the others.
  std::vector<FreeAxis> others;
  for (const FreeAxis& axis : axes_with_role(tile.inst, AxisRole::Contract))
    if (axis.axis != plan.contract && axis.count > 1) others.push_back(axis);
  const PartitionSplit split = tile.stationary->split;
  if (split.remainder == 0) {
    std::vector<AxisId> k_axes;
    size_t k_opened = 0;
    affine::Ref weights_offset = stationary_at, moving_offset = moving_at;
    const auto open = [&](int64_t trips) {
      const affine::Ref step = builder_.open_loop("k", trips);
      ++k_opened;
      for (const affine::Term& term : step->terms) k_axes.push_back(term.axis);
      return step;
    };
    for (const FreeAxis& axis : others) {
      const affine::Ref step = open(axis.count);
      shift(weights_offset, tile.stationary->access, axis.axis, step);
      shift(moving_offset, tile.moving->access, axis.axis, step);
    }
    const affine::Ref step = open(split.full_blocks);
    weights_offset = context.add(weights_offset, context.mul(step, tile.stationary->block_step));
    moving_offset = context.add(moving_offset, context.mul(step, tile.moving->block_step));
    matmul(weights_offset, moving_offset, split.lanes, k_axes.empty() ? 3 : bir::Attributes::kAutoFlag,
           k_axes);
    for (; k_opened > 0; --k_opened) builder_.close_loop();
  } else {
    // A peeled last block: the group is written out, so that its flags are constants.
    const int64_t combinations = count_elements(others), blocks = split.blocks(),
                  total = combinations * blocks;
    for (int64_t n = 0; n < total; ++n) {
      const int64_t block = n % blocks;
      int64_t rest = n / blocks;
      affine::Ref weights_offset = context.add(stationary_at, block * tile.stationary->block_step);
      affine::Ref moving_offset = context.add(moving_at, block * tile.moving->block_step);
      for (size_t k = others.size(); k-- > 0;) {
        const affine::Ref index = context.constant(rest % others[k].count);
        rest /= others[k].count;
        shift(weights_offset, tile.stationary->access, others[k].axis, index);
        shift(moving_offset, tile.moving->access, others[k].axis, index);
      }
      const uint8_t flags = static_cast<uint8_t>((n == 0 ? 1 : 4) | (n + 1 == total ? 2 : 0));
      matmul(weights_offset, moving_offset, block < split.full_blocks ? split.lanes : split.remainder, flags,
             {});
    }
  }
  ++next_group_;
  for (; opened > 0; --opened) builder_.close_loop();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
