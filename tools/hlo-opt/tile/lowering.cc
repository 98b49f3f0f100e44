#include "tools/hlo-opt/tile/lowering.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

// A cluster's block is cut into chunks of its free axis when its tiles would take more than this share of a
// partition's SBUF: with several buffers of each in flight, loads, compute and stores still overlap.
constexpr int64_t kBlockShare = 6;
// The moving operands of a cluster's contractions may together take this share; more are cut into panels.
constexpr int64_t kPanelShare = 2;
// The tiles of a cluster with contractions, not all of which live at once.
constexpr int64_t kClusterShare = 2;
// Fewer bytes per partition than this in one transfer no longer keep a DMA engine busy.
constexpr int64_t kMinChunkBytes = 4096;

}  // namespace

TileLowering::TileLowering(const Module& source, const Plan& plan, const ArchModel& arch,
                           bool precise_transpose)
    : source_(source),
      function_(source.main()),
      plan_(plan),
      arch_(arch),
      precise_transpose_(precise_transpose),
      builder_(source, arch) {}

Result<std::unique_ptr<Module>> TileLowering::run() {
  declare_dram_tensors();
  for (const Cluster& cluster : plan_.clusters) {
    lower_cluster(cluster);
    if (!failure_.is_ok()) return failure_;
  }
  Module& out = builder_.out();
  const auto bindings = [&](const std::vector<IoBinding>& from, std::vector<IoBinding>& to,
                            std::vector<TensorId>& ids) {
    for (IoBinding binding : from) {
      binding.tensor = dram_[binding.tensor];
      ids.push_back(binding.tensor);
      to.push_back(std::move(binding));
    }
  };
  bindings(source_.inputs, out.inputs, out.main().inputs);
  bindings(source_.outputs, out.outputs, out.main().outputs);
  return builder_.take();
}

void TileLowering::declare_dram_tensors() {
  dram_.assign(function_.tensors.size(), kNone);
  for (TensorId id = 0; id < function_.tensors.size(); ++id) {
    const Tensor& tensor = function_.tensors[id];
    const TensorPlan& plan = plan_.tensors[id];
    if (tensor.alias_of != kNone) continue;
    bool needed = tensor.role != Role::Internal || (!plan.on_chip && !plan.consumers.empty());
    for (uint32_t consumer : plan.consumers) {
      const Inst& in = inst(consumer);
      const AxisId axis =
          in.op == TensorOp::Contract ? plan_.insts[consumer].contract : plan_.insts[consumer].partition;
      for (const Operand& operand : in.operands) {
        if (operand.kind != Operand::Kind::Tensor || operand.tensor != id) continue;
        const EdgeKind edge = classify_edge(function_, plan_, operand, axis);
        needed = needed || edge == EdgeKind::Bounce || edge == EdgeKind::Replicate;
      }
    }
    if (!needed) continue;
    Tensor placed = tensor;
    placed.space = Space::Dram;
    placed.scope = kNone;
    dram_[id] = builder_.add_tensor(std::move(placed));
  }
  for (TensorId id = 0; id < function_.tensors.size(); ++id)
    if (function_.tensors[id].alias_of != kNone) dram_[id] = dram_[function_.tensors[id].alias_of];
}

bool TileLowering::is_block_scoped(TensorId id) const {
  const TensorPlan& plan = plan_.tensors[id];
  const uint32_t cluster = plan_.insts[plan.producers.front()].cluster;
  for (uint32_t producer : plan.producers)
    if (plan_.insts[producer].cluster != cluster) return false;
  for (uint32_t consumer : plan.consumers) {
    if (plan_.insts[consumer].cluster != cluster) return false;
    // A contraction in the same block reads its stationary side; the moving side is read for all blocks at
    // once.
    const Inst& in = inst(consumer);
    if (in.op == TensorOp::Contract && in.operands[plan_.insts[consumer].lhs_stationary ? 1 : 0].tensor == id)
      return false;
  }
  return true;
}

int64_t TileLowering::moving_panel_bytes(uint32_t i) const {
  const Inst& in = inst(i);
  const InstPlan& plan = plan_.insts[i];
  const AxisRole stationary = plan.lhs_stationary ? AxisRole::LhsFree : AxisRole::RhsFree;
  int64_t elements = 1;
  for (const IterationAxis& entry : in.axes) {
    if (entry.role == stationary) continue;
    elements *=
        entry.axis == plan.contract ? partition_split(extent(entry.axis)).blocks() : extent(entry.axis);
  }
  return elements * size_bytes(in.operands[plan.lhs_stationary ? 1 : 0].dtype);
}

// Follows an axis of one instruction through the tiles of its cluster; nullopt when some instruction could
// not work on a part of it.
std::optional<TileLowering::ChunkChoice> TileLowering::follow_axis(const Cluster& cluster, uint32_t seed,
                                                                   AxisId axis) const {
  ChunkChoice choice;
  choice.extent = extent(axis);
  choice.axis[seed] = axis;
  std::vector<uint32_t> work = {seed};
  const auto in_cluster = [&](uint32_t i) { return plan_.insts[i].cluster == plan_.insts[seed].cluster; };
  // The axis of `i` that walks `dim` of the operand, when it does so plainly; fails otherwise.
  bool legal = true;
  const auto visit = [&](uint32_t i, const Operand& access, size_t dim) {
    const Ref expr = access.index[dim];
    if (!(expr->terms.size() == 1 &&
          is_plain(function_, expr, function_.tensors[access.tensor].shape[dim], expr->terms[0].axis))) {
      legal = false;
      return;
    }
    const AxisId found = expr->terms[0].axis;
    const AxisRole role = inst(i).role(found);
    if (role == AxisRole::Reduce || role == AxisRole::Contract || found == plan_.insts[i].partition) {
      legal = false;
      return;
    }
    const auto [entry, fresh] = choice.axis.try_emplace(i, found);
    if (!fresh && entry->second != found) legal = false;
    if (fresh) work.push_back(i);
  };
  const auto spread = [&](const Operand& access, uint32_t from) {
    if (!plan_.tensors[access.tensor].on_chip) return;
    const AxisId mine = choice.axis.at(from);
    for (size_t dim = 0; dim < access.index.size(); ++dim) {
      if (access.index[dim]->coef(mine) == 0) continue;
      for (uint32_t producer : plan_.tensors[access.tensor].producers)
        if (in_cluster(producer)) visit(producer, inst(producer).result, dim);
      for (uint32_t consumer : plan_.tensors[access.tensor].consumers)
        if (in_cluster(consumer))
          for (const Operand& operand : inst(consumer).operands)
            if (operand.kind == Operand::Kind::Tensor && operand.tensor == access.tensor)
              visit(consumer, operand, dim);
    }
  };
  while (!work.empty() && legal) {
    const uint32_t i = work.back();
    work.pop_back();
    spread(inst(i).result, i);
    for (const Operand& operand : inst(i).operands)
      if (operand.kind == Operand::Kind::Tensor) spread(operand, i);
  }
  if (!legal) return std::nullopt;
  // An instruction without the axis must not need one that has it.
  for (uint32_t i : cluster.insts) {
    if (choice.axis.contains(i)) continue;
    choice.has_whole = true;
    for (const Operand& operand : inst(i).operands) {
      if (operand.kind != Operand::Kind::Tensor) continue;
      for (uint32_t producer : plan_.tensors[operand.tensor].producers)
        if (in_cluster(producer) && choice.axis.contains(producer)) return std::nullopt;
    }
  }
  return choice;
}

TileLowering::ClusterSize TileLowering::measure(const Cluster& cluster) {
  environment_.clear();
  ClusterSize size;
  std::unordered_set<AxisId> seen;
  for (uint32_t i : cluster.insts) {
    size.has_contract |= inst(i).op == TensorOp::Contract;
    int64_t elements = 1;
    for (const FreeAxis& free : free_axes(i)) {
      elements *= extent(free.axis);
      if (extent(free.axis) > 1 && seen.insert(free.axis).second) size.axes.emplace_back(i, free.axis);
    }
    size.bytes += elements * size_bytes(function_.tensors[inst(i).result.tensor].dtype);
    for (const Operand& operand : inst(i).operands)
      if (operand.kind == Operand::Kind::Tensor && !plan_.tensors[operand.tensor].on_chip &&
          inst(i).op != TensorOp::Contract)
        size.bytes += elements * size_bytes(operand.dtype);
  }
  std::stable_sort(size.axes.begin(), size.axes.end(),
                   [&](const auto& a, const auto& b) { return extent(a.second) > extent(b.second); });
  return size;
}

// The largest free axis of any result is cut, when all can work on a part of it; else the next one.
std::optional<TileLowering::ChunkChoice> TileLowering::choose_chunk(const Cluster& cluster) {
  const ClusterSize size = measure(cluster);
  std::unordered_set<AxisId> followed;
  for (const auto& [seed, axis] : size.axes) {
    if (followed.contains(axis)) continue;
    std::optional<ChunkChoice> choice = follow_axis(cluster, seed, axis);
    if (!choice) continue;
    choice->chunk = chunk_size(cluster, *choice, size);
    if (choice->chunk < choice->extent) return choice;
    if (axis == size.axes.front().second) return std::nullopt;
    for (const auto& [inst, same] : choice->axis) followed.insert(same);
  }
  return std::nullopt;
}

int64_t TileLowering::chunk_size(const Cluster& cluster, ChunkChoice& choice, const ClusterSize& size) {
  const int64_t budget = arch_.sbuf_bytes_per_partition / kBlockShare;
  int64_t chunk = choice.extent;
  // A moving panel that would crowd SBUF is cut along the chunk, and each cut serves all blocks before the
  // next is loaded.
  const int64_t panel_budget = arch_.sbuf_bytes_per_partition / kPanelShare;
  int64_t panel = 0;
  for (uint32_t i : cluster.insts)
    if (inst(i).op == TensorOp::Contract && choice.axis.contains(i)) panel += moving_panel_bytes(i);
  if (panel > panel_budget && !choice.has_whole) {
    choice.outermost = true;
    chunk = std::max<int64_t>(1, choice.extent * panel_budget / panel);
    if (chunk > arch_.max_moving_free) chunk = chunk / arch_.max_moving_free * arch_.max_moving_free;
  } else if (size.has_contract) {
    // One PSUM bank per chunk lets the consumers read the products where they are.
    int64_t inner = 1;
    for (uint32_t i : cluster.insts) {
      if (inst(i).op != TensorOp::Contract) continue;
      int64_t others = 1;
      const auto found = choice.axis.find(i);
      for (const FreeAxis& free : free_axes(i))
        if (found == choice.axis.end() || free.axis != found->second) others *= extent(free.axis);
      if (found == choice.axis.end()) continue;
      inner = std::max(inner, others);
    }
    if (inner <= arch_.max_moving_free) chunk = std::min(chunk, arch_.max_moving_free / inner);
  } else if (size.bytes > budget) {
    chunk = std::max(choice.extent * budget / size.bytes,
                     std::max<int64_t>(1, choice.extent * kMinChunkBytes / size.bytes));
  }
  // A cluster with contractions is cut only as far as it must to fit.
  const int64_t tiles_budget = arch_.sbuf_bytes_per_partition / kClusterShare;
  if (size.has_contract && size.bytes > tiles_budget)
    chunk = std::min(chunk, std::max<int64_t>(1, choice.extent * tiles_budget / size.bytes));
  if (chunk >= choice.extent) return choice.extent;
  // Prefer equal chunks.
  for (int64_t divisor = chunk; divisor * 2 > chunk && divisor > 0; --divisor)
    if (choice.extent % divisor == 0) return divisor;
  return chunk;
}

void TileLowering::for_blocks(const Cluster& cluster, const std::function<void()>& body) {
  const PartitionSplit split = partition_split(cluster.partition_extent);
  cluster_.block = builder_.open_loop("p", split.full_blocks);
  cluster_.lanes = split.lanes;
  cluster_.block_level = builder_.level();
  body();
  caches_.erase(builder_.level());
  builder_.close_loop();
  if (split.remainder == 0) return;
  cluster_.block = builder_.constant(split.full_blocks);
  cluster_.lanes = split.remainder;
  cluster_.block_level = builder_.level();
  body();
}

void TileLowering::for_chunks(const ChunkChoice& chunk, const std::function<void()>& body) {
  const int64_t full = chunk.extent / chunk.chunk, rest = chunk.extent % chunk.chunk;
  const affine::Ref step = builder_.open_loop("f", full);
  cluster_.chunk_base = builder_.affine().mul(step, chunk.chunk);
  cluster_.chunk_count = chunk.chunk;
  cluster_.chunk_level = builder_.level();
  body();
  caches_.erase(builder_.level());
  builder_.close_loop();
  if (rest > 0) {
    cluster_.chunk_base = builder_.constant(full * chunk.chunk);
    cluster_.chunk_count = rest;
    cluster_.chunk_level = builder_.level();
    body();
  }
  cluster_.chunk_base = nullptr;
}

void TileLowering::lower_cluster(const Cluster& cluster) {
  cluster_ = {};
  cluster_.cluster = &cluster;
  cluster_.outer_level = builder_.level();
  cluster_.chunk = choose_chunk(cluster);
  if (!cluster_.chunk) {
    for_blocks(cluster, [&] { lower_insts(cluster.insts); });
  } else if (cluster_.chunk->outermost) {
    for_chunks(*cluster_.chunk, [&] { for_blocks(cluster, [&] { lower_insts(cluster.insts); }); });
  } else {
    // What does not vary with the chunk is done once per block, before the chunks.
    std::vector<uint32_t> whole, chunked;
    for (uint32_t i : cluster.insts) (cluster_.chunk->axis.contains(i) ? chunked : whole).push_back(i);
    for_blocks(cluster, [&] {
      lower_insts(whole);
      for_chunks(*cluster_.chunk, [&] { lower_insts(chunked); });
      forget_block_scoped(whole);
    });
    caches_.erase(cluster_.outer_level);
    return;
  }
  caches_.erase(cluster_.outer_level);
}

void TileLowering::forget_block_scoped(const std::vector<uint32_t>& insts) {
  for (uint32_t i : insts) {
    const TensorId id = inst(i).result.tensor;
    if (plan_.tensors[id].on_chip && is_block_scoped(id)) storage_.erase(id);
  }
}

void TileLowering::lower_insts(const std::vector<uint32_t>& insts) {
  cluster_.inst_level = builder_.level();
  for (uint32_t i : insts) {
    lower_inst(i);
    if (!failure_.is_ok()) return;
  }
  if (!cluster_.chunk || cluster_.chunk->outermost || cluster_.chunk_base != nullptr)
    forget_block_scoped(insts);
}

void TileLowering::enter(uint32_t i) {
  const Inst& in = inst(i);
  environment_.clear();
  const AxisId partition = plan_.insts[i].partition;
  for (const IterationAxis& entry : in.axes)
    environment_[entry.axis] = {builder_.constant(0), extent(entry.axis), nullptr};
  if (partition != kNone) {
    const int64_t lanes = partition_split(extent(partition)).lanes;
    environment_[partition] = {builder_.affine().mul(cluster_.block, lanes), cluster_.lanes, cluster_.block};
  }
  if (cluster_.chunk && cluster_.chunk_base != nullptr) {
    const auto found = cluster_.chunk->axis.find(i);
    if (found != cluster_.chunk->axis.end())
      environment_[found->second] = {cluster_.chunk_base, cluster_.chunk_count, nullptr};
  }
}

void TileLowering::lower_inst(uint32_t i) {
  const Inst& in = inst(i);
  if (plan_.insts[i].absorbed) return;
  builder_.set_origin(in.loc, in.name);
  enter(i);
  block_environment_ = environment_;
  switch (in.op) {
    case TensorOp::Map:
      failure_ = lower_map(i);
      break;
    case TensorOp::Reduce:
      failure_ = lower_reduce(i);
      break;
    case TensorOp::Contract:
      failure_ = lower_contract(i);
      break;
  }
}

std::vector<FreeAxis> TileLowering::free_axes(uint32_t i) const {
  const Inst& in = inst(i);
  std::vector<FreeAxis> axes;
  for (const Ref expr : in.result.index)
    for (const affine::Term& term : expr->terms) {
      if (term.axis == plan_.insts[i].partition) continue;
      const auto found = environment_.find(term.axis);
      axes.push_back({term.axis, found == environment_.end() ? extent(term.axis) : found->second.count});
    }
  return axes;
}

std::vector<FreeAxis> TileLowering::axes_with_role(uint32_t i, AxisRole role) const {
  std::vector<FreeAxis> axes;
  for (const IterationAxis& entry : inst(i).axes)
    if (entry.role == role && entry.axis != plan_.insts[i].partition)
      axes.push_back({entry.axis, range(entry.axis).count});
  return axes;
}

affine::Ref TileLowering::bind(affine::Ref expr) {
  std::unordered_map<AxisId, affine::Ref> bases;
  for (const affine::Term& term : expr->terms) bases[term.axis] = environment_.at(term.axis).base;
  return builder_.affine().substitute(expr, bases);
}

TileAccess TileLowering::result_access(uint32_t i) {
  const Inst& in = inst(i);
  const TensorId id = in.result.tensor;
  const Tensor& tensor = function_.tensors[id];
  const AxisId partition = plan_.insts[i].partition;
  if (!plan_.tensors[id].on_chip) {
    // A staging tile over the instruction's own domain.
    TileAccess access;
    access.dtype = tensor.dtype;
    access.lanes = partition == kNone ? 1 : range(partition).count;
    access.offset = builder_.constant(0);
    int64_t elements = 1;
    const std::vector<FreeAxis> axes = free_axes(i);
    for (size_t k = axes.size(); k-- > 0;) {
      if (axes[k].count > 1) access.stride[axes[k].axis] = elements;
      elements *= axes[k].count;
    }
    access.tensor =
        builder_.new_tile(tensor.name, Space::Sbuf, tensor.dtype, access.lanes, elements, builder_.level());
    return access;
  }
  if (!storage_.contains(id)) {
    const bool scoped = is_block_scoped(id);
    Storage storage;
    storage.dtype = tensor.dtype;
    storage.partition_dim = plan_.tensors[id].partition_dim;
    storage.stride.assign(tensor.shape.size(), 0);
    storage.origin.assign(tensor.shape.size(), nullptr);
    storage.extent = tensor.shape;
    int64_t elements = 1;
    for (size_t dim = tensor.shape.size(); dim-- > 0;) {
      if (static_cast<int>(dim) == storage.partition_dim) continue;
      int64_t held = tensor.shape[dim];
      const Ref expr = in.result.index[dim];
      if (scoped && cluster_.chunk && cluster_.chunk_base != nullptr && expr->terms.size() == 1) {
        const auto chunked = cluster_.chunk->axis.find(i);
        if (chunked != cluster_.chunk->axis.end() && chunked->second == expr->terms[0].axis) {
          held = cluster_.chunk_count;
          storage.origin[dim] = cluster_.chunk_base;
        }
      }
      storage.stride[dim] = elements;
      storage.extent[dim] = held;
      elements *= held;
    }
    if (storage.partition_dim >= 0) {
      const PartitionSplit split = partition_split(tensor.shape[storage.partition_dim]);
      storage.lanes = scoped ? cluster_.lanes : split.lanes;
      if (!scoped) {
        storage.block_stride = elements;
        elements *= split.blocks();
      }
    }
    storage.tile = builder_.new_tile(tensor.name, Space::Sbuf, tensor.dtype, storage.lanes, elements,
                                     scoped ? cluster_.inst_level : 0);
    storage_[id] = std::move(storage);
  }
  return storage_access(storage_.at(id), i, in.result, partition);
}

void TileLowering::finish_result(uint32_t i, const TileAccess& tile) {
  const Inst& in = inst(i);
  if (dram_[in.result.tensor] == kNone) return;
  const TileAccess to = dram_access(i, in.result, plan_.insts[i].partition);
  const std::vector<FreeAxis> axes = free_axes(i);
  if (const FreeAxis* rows = exchanged_rows(to, axes, false);
      rows != nullptr && to.stride.contains(rows->axis))
    store_exchanged(tile, to, axes, *rows);
  else
    builder_.emit_dma(tile, to, axes);
}

isa::Engine TileLowering::pick_engine(std::string_view legal, int64_t elements, double cycles_per_element,
                                      bool touches_psum) {
  struct Candidate {
    char letter;
    isa::Engine engine;
    int ticks;
  };
  const Candidate candidates[] = {{'V', isa::Engine::DVE, arch_.dve_ticks},
                                  {'A', isa::Engine::Activation, arch_.activation_ticks},
                                  {'P', isa::Engine::Pool, arch_.pool_ticks}};
  const Candidate* best = nullptr;
  double best_finish = 0, best_cost = 0;
  for (const Candidate& candidate : candidates) {
    if (legal.find(candidate.letter) == std::string_view::npos) continue;
    if (candidate.engine == isa::Engine::Pool &&
        (touches_psum || (arch_.shares_pool_dve_port && legal.size() > 1)))
      continue;
    const double rate = candidate.engine == isa::Engine::Activation ? 1.0 : cycles_per_element;
    const double cost = std::max(64.0, static_cast<double>(elements) * rate) * candidate.ticks *
                        static_cast<double>(builder_.trips());
    const double finish = engine_ns_[static_cast<size_t>(candidate.engine)] + cost;
    if (best == nullptr || finish < best_finish) {
      best = &candidate;
      best_finish = finish;
      best_cost = cost;
    }
  }
  NCC_CHECK(best != nullptr, "no engine among '{}'", legal);
  engine_ns_[static_cast<size_t>(best->engine)] += best_cost;
  return best->engine;
}

}  // namespace ncc::hlo_opt
