// Drops loads of data that SBUF holds, or can go on holding: two locations that are filled by the same
// transfers from inputs or constants, and by nothing else, are one. Keeping the first alive until the
// second's uses costs its bytes over the gap between them, so gaps are closed shortest first while the live
// bytes stay under a share of the memory; the rest stays free for the rotation that hides the remaining
// loads. For tiles of one size that is the best a cache can do. Presumes unroll; before allocation. O(n log
// n). Source: spec/walrus.md §2.8 (merging loads), §2.3 (weight pinning); the rule for which to keep is ours:
// docs/decisions.md.
#include <algorithm>
#include <map>

#include "tools/walrus_driver/allocator.h"
#include "tools/walrus_driver/live_profile.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::kNone;

// Percent of SBUF that live bytes may reach through merging: the first share under which everything can be
// placed.
constexpr int64_t kBudgetPercents[] = {85, 60, 40};

struct Usage {
  bool loads_only = true;  // written by transfers from read-only DRAM alone
  int64_t first_write = -1, last_write = -1, first_read = -1, last_read = -1;
  std::vector<uint32_t> writers;
  int64_t start() const {
    return first_write < 0 || (first_read >= 0 && first_read < first_write) ? first_read : first_write;
  }
  int64_t end() const { return std::max(last_write, last_read); }
};

struct Gap {
  int64_t length;
  uint32_t earlier, later;  // locations
};

class MergeLoads final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) merge(fn, ctx);
    return Status::ok();
  }

 private:
  static bool is_read_only(const bir::Function& fn, const bir::Operand& op) {
    const bir::TensorKind kind = fn.sets[op.set].kind;
    return fn.locations[op.location].memory == bir::Memory::Dram &&
           (kind == bir::TensorKind::ExternalInput || kind == bir::TensorKind::Const);
  }

  static std::vector<Usage> usages(const bir::Function& fn) {
    std::vector<Usage> usage(fn.locations.size());
    const std::vector<bir::Instruction>& list = fn.block.instructions;
    for (uint32_t i = 0; i < list.size(); ++i) {
      for (const bir::Operand& op : list[i].ins) {
        if (op.kind != bir::OperandKind::PhysicalAp) continue;
        Usage& u = usage[op.location];
        if (u.first_read < 0) u.first_read = i;
        u.last_read = i;
      }
      for (const bir::Operand& op : list[i].outs) {
        if (op.kind != bir::OperandKind::PhysicalAp) continue;
        Usage& u = usage[op.location];
        if (u.first_write < 0) u.first_write = i;
        u.last_write = i;
        const bool load = bir::is_dma(list[i].opcode) && is_read_only(fn, list[i].ins[0]);
        u.loads_only = u.loads_only && load && fn.locations[op.location].memory == bir::Memory::Sbuf;
        if (u.loads_only) u.writers.push_back(i);
      }
    }
    for (Usage& u : usage)
      u.loads_only = u.loads_only && u.first_write >= 0 && u.first_read >= 0 && u.last_write < u.first_read;
    return usage;
  }

  /// What fills the location, and its shape: equal keys mean equal contents.
  static std::vector<int64_t> content(const bir::Function& fn, uint32_t id, const Usage& usage) {
    const bir::MemoryLocation& l = fn.locations[id];
    std::vector<int64_t> key = {l.partitions, l.bytes_per_partition, l.base_alignment};
    const auto access = [&](const bir::Operand& op) {
      key.insert(key.end(), {static_cast<int64_t>(op.dtype), op.partition, op.offset, op.rank});
      for (int i = 0; i < op.rank; ++i) key.insert(key.end(), {op.ap[i].step, op.ap[i].count});
    };
    for (uint32_t writer : usage.writers) {
      const bir::Instruction& inst = fn.block.instructions[writer];
      key.insert(key.end(),
                 {static_cast<int64_t>(inst.opcode), inst.attrs().dma_transpose, inst.ins[0].location});
      access(inst.ins[0]);
      access(inst.outs[0]);
    }
    return key;
  }

  static void merge(bir::Function& fn, PassContext& ctx) {
    const std::vector<Usage> usage = usages(fn);
    std::map<std::vector<int64_t>, std::vector<uint32_t>> same;
    for (uint32_t l = 0; l < fn.locations.size(); ++l)
      if (usage[l].loads_only) same[content(fn, l, usage[l])].push_back(l);
    const std::vector<Gap> closable = gaps(usage, same);
    if (closable.empty()) return;
    for (int64_t percent : kBudgetPercents) {
      std::vector<uint32_t> kept =
          choose(fn, usage, closable, ctx.arch.sbuf_bytes_per_partition * percent / 100);
      if (!fits(fn, usage, kept, ctx.arch)) continue;
      apply(fn, kept, usage, ctx);
      return;
    }
  }

  /// For each location the one whose data stands for it, or kNone.
  static std::vector<uint32_t> choose(const bir::Function& fn, const std::vector<Usage>& usage,
                                      const std::vector<Gap>& closable, int64_t budget) {
    LiveProfile live(std::ssize(fn.block.instructions));
    std::vector<int64_t> first_read(fn.locations.size());  // of a location and all that it stands for
    for (uint32_t l = 0; l < fn.locations.size(); ++l) {
      const Usage& u = usage[l];
      first_read[l] = u.first_read;
      if (fn.locations[l].memory == bir::Memory::Sbuf && u.start() >= 0)
        live.add(u.start(), u.end() + 1, fn.locations[l].bytes_per_partition);
    }
    std::vector<uint32_t> kept(fn.locations.size(), kNone);
    for (const Gap& gap : closable) {
      const uint32_t root = root_of(kept, gap.earlier);
      // The transfers that stay must come before every use.
      if (usage[root].last_write >= first_read[gap.later]) continue;
      const int64_t from = usage[gap.earlier].end() + 1, to = usage[gap.later].start();
      const int64_t bytes = fn.locations[gap.later].bytes_per_partition;
      if (from < to) {
        if (live.most(from, to) + bytes > budget) continue;
        live.add(from, to, bytes);
      }
      kept[gap.later] = root;
      first_read[root] = std::min(first_read[root], first_read[gap.later]);
    }
    return kept;
  }

  /// Whether the allocator finds places for everything once the merges are made.
  static bool fits(const bir::Function& fn, const std::vector<Usage>& usage, std::vector<uint32_t> kept,
                   const ArchModel& arch) {
    std::vector<int64_t> end(fn.locations.size(), -1);
    for (uint32_t l = 0; l < fn.locations.size(); ++l) {
      const uint32_t root = root_of(kept, l);
      end[root] = std::max(end[root], usage[l].end());
    }
    std::vector<Lifetime> items;
    for (uint32_t l = 0; l < fn.locations.size(); ++l) {
      const bir::MemoryLocation& m = fn.locations[l];
      if (m.memory != bir::Memory::Sbuf || kept[l] != kNone || usage[l].start() < 0) continue;
      items.push_back(
          {l, usage[l].start(), end[l], m.bytes_per_partition, m.partitions, m.base_alignment, 0, 0});
    }
    std::stable_sort(items.begin(), items.end(),
                     [](const Lifetime& a, const Lifetime& b) { return a.start < b.start; });
    const int64_t positions = std::ssize(fn.block.instructions);
    for (Strategy strategy : {Strategy::Rotate, Strategy::FirstFit})
      if (!place(items, sbuf_space(arch), strategy, positions)) return true;
    return false;
  }

  static std::vector<Gap> gaps(const std::vector<Usage>& usage,
                               std::map<std::vector<int64_t>, std::vector<uint32_t>>& same) {
    std::vector<Gap> list;
    for (auto& [key, locations] : same) {
      std::sort(locations.begin(), locations.end(),
                [&](uint32_t a, uint32_t b) { return usage[a].first_write < usage[b].first_write; });
      for (size_t i = 1; i < locations.size(); ++i) {
        const uint32_t earlier = locations[i - 1], later = locations[i];
        list.push_back({usage[later].start() - usage[earlier].end(), earlier, later});
      }
    }
    std::sort(list.begin(), list.end(), [&](const Gap& a, const Gap& b) {
      return std::tuple(a.length, usage[a.later].first_write) <
             std::tuple(b.length, usage[b.later].first_write);
    });
    return list;
  }

  static uint32_t root_of(std::vector<uint32_t>& kept, uint32_t l) {
    uint32_t top = l;
    while (kept[top] != kNone) top = kept[top];
    while (kept[l] != kNone) l = std::exchange(kept[l], top);
    return top;
  }

  static void apply(bir::Function& fn, std::vector<uint32_t>& kept, const std::vector<Usage>& usage,
                    PassContext& ctx) {
    std::vector<bool> dead(fn.block.instructions.size(), false);
    int64_t removed = 0, bytes = 0;
    for (uint32_t l = 0; l < kept.size(); ++l) {
      if (kept[l] == kNone) continue;
      for (uint32_t writer : usage[l].writers) dead[writer] = true;
      removed += std::ssize(usage[l].writers);
      bytes += fn.locations[l].bytes_per_partition * fn.locations[l].partitions;
    }
    if (removed == 0) return;
    std::vector<bir::Instruction> list;
    list.reserve(fn.block.instructions.size() - static_cast<size_t>(removed));
    for (size_t i = 0; i < fn.block.instructions.size(); ++i) {
      if (dead[i]) continue;
      bir::Instruction& inst = fn.block.instructions[i];
      for (bir::Operand& op : inst.ins) {
        if (op.kind != bir::OperandKind::PhysicalAp || kept[op.location] == kNone) continue;
        op.location = root_of(kept, op.location);
        op.set = fn.locations[op.location].set;
      }
      inst.dependencies.clear();
      list.push_back(std::move(inst));
    }
    fn.block.instructions = std::move(list);
    ctx.count("loads_merged", removed);
    ctx.count("load_bytes_saved", bytes);
  }
};

}  // namespace

std::unique_ptr<Pass> make_dma_optimization_sb() { return std::make_unique<MergeLoads>(); }

}  // namespace ncc::walrus
