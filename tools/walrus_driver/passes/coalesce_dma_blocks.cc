// Joins neighbouring transfers between DRAM and SBUF when the second continues the first in rows: the next
// partitions of the same location with the same free pattern, and in DRAM the next steps of the outermost
// dim. Neighbours of one original instruction only: nothing that lies between could conflict. Fewer, larger
// transfers cost fewer start latencies. Presumes unroll. Source: spec/walrus.md §1.3 (coalesce-dma-blocks);
// rule is ours: docs/decisions.md.
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

constexpr int kMaxDims = 4;

class Coalesce final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) {
      std::vector<bir::Instruction> out;
      std::vector<bir::Instruction>& list = fn.block.instructions;
      out.reserve(list.size());
      int64_t joined = 0;
      for (bir::Instruction& inst : list) {
        if (!out.empty() && join(fn, out.back(), inst)) {
          ++joined;
        } else {
          out.push_back(std::move(inst));
        }
      }
      list = std::move(out);
      if (joined > 0)
        for (bir::Instruction& inst : list) inst.dependencies.clear();
      ctx.count("transfers_joined", joined);
    }
    return Status::ok();
  }

 private:
  static bool on_chip(const bir::Function& fn, const bir::Operand& op) {
    return fn.locations[op.location].memory != bir::Memory::Dram;
  }

  /// Rows of an on-chip side continue: next starts where `first` ends, with the same free pattern.
  static bool rows_continue(const bir::Operand& first, const bir::Operand& next) {
    if (first.location != next.location || first.dtype != next.dtype || first.offset != next.offset ||
        first.rank != next.rank || next.partition != first.partition + first.num_partitions())
      return false;
    for (int i = 1; i < first.rank; ++i)
      if (!(first.ap[i] == next.ap[i])) return false;
    return true;
  }

  /// The DRAM side's outermost dim counts the rows and goes on with the same step.
  static bool dram_continues(const bir::Operand& first, const bir::Operand& next) {
    if (first.location != next.location || first.dtype != next.dtype || first.rank != next.rank ||
        first.rank == 0)
      return false;
    for (int i = 1; i < first.rank; ++i)
      if (!(first.ap[i] == next.ap[i])) return false;
    const int64_t step = first.ap[0].count > 1 ? first.ap[0].step : next.offset - first.offset;
    if (next.ap[0].count > 1 && next.ap[0].step != step) return false;
    return next.offset == first.offset + step * first.ap[0].count;
  }

  static bool join(const bir::Function& fn, bir::Instruction& first, const bir::Instruction& next) {
    if (!bir::is_dma(first.opcode) || first.opcode != next.opcode || first.source != next.source)
      return false;
    if (first.attrs().dma_transpose || next.attrs().dma_transpose) return false;
    bir::Operand *src = &first.ins[0], *dst = &first.outs[0];
    for (const bir::Operand* op : {src, dst})
      if (op->kind != bir::OperandKind::PhysicalAp || op->rank > kMaxDims) return false;
    bir::Operand* chip = on_chip(fn, *src) ? src : dst;
    bir::Operand* dram = chip == src ? dst : src;
    if (!on_chip(fn, *chip) || on_chip(fn, *dram)) return false;
    const bir::Operand& next_chip = chip == src ? next.ins[0] : next.outs[0];
    const bir::Operand& next_dram = chip == src ? next.outs[0] : next.ins[0];
    // Only whole rows: the outermost DRAM dim must be the one that counts partitions.
    if (dram->ap[0].count != chip->num_partitions() || next_dram.rank == 0 ||
        next_dram.ap[0].count != next_chip.num_partitions())
      return false;
    if (!rows_continue(*chip, next_chip) || !dram_continues(*dram, next_dram)) return false;
    if (dram->ap[0].count == 1) dram->ap[0].step = next_dram.offset - dram->offset;
    dram->ap[0].count += next_dram.ap[0].count;
    chip->ap[0].count += next_chip.ap[0].count;
    return true;
  }
};

}  // namespace

std::unique_ptr<Pass> make_coalesce_dma_blocks() { return std::make_unique<Coalesce>(); }

}  // namespace ncc::walrus
