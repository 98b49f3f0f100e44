// Drops instructions whose results nothing reads: an instruction lives when it writes an output of the
// program, has an effect besides its results, or writes a location that a living instruction reads. Whole
// locations, no order: conservative and linear. Presumes unroll. Source: spec/walrus.md §6.
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::Opcode;

bool has_other_effects(const bir::Instruction& inst) {
  // Without outputs an instruction exists for its effect (tables, semaphores, control).
  return inst.outs.empty() || inst.opcode == Opcode::DveReadAccumulator ||
         inst.attrs().accumulate != bir::AccumulateCommand::Idle;
}

class DeadCodeElim final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) ctx.count("instructions_removed", sweep(fn));
    return Status::ok();
  }

 private:
  static int64_t sweep(bir::Function& fn) {
    std::vector<bir::Instruction>& list = fn.block.instructions;
    std::vector<std::vector<uint32_t>> writers(fn.locations.size());
    std::vector<uint32_t> work;
    std::vector<bool> alive(list.size(), false);
    const auto revive = [&](uint32_t i) {
      if (alive[i]) return;
      alive[i] = true;
      work.push_back(i);
    };
    for (uint32_t i = 0; i < list.size(); ++i) {
      bool needed = has_other_effects(list[i]);
      for (const bir::Operand& op : list[i].outs) {
        if (op.kind != bir::OperandKind::PhysicalAp) {
          needed = true;
          continue;
        }
        writers[op.location].push_back(i);
        needed = needed || fn.sets[fn.locations[op.location].set].kind != bir::TensorKind::Internal;
      }
      if (needed) revive(i);
    }
    std::vector<bool> read(fn.locations.size(), false);
    while (!work.empty()) {
      const uint32_t i = work.back();
      work.pop_back();
      const auto need = [&](const bir::Operand& op) {
        if (op.kind != bir::OperandKind::PhysicalAp || read[op.location]) return;
        read[op.location] = true;
        for (uint32_t writer : writers[op.location]) revive(writer);
      };
      for (const bir::Operand& op : list[i].ins) need(op);
      // A partial write needs what it leaves in place.
      for (const bir::Operand& op : list[i].outs) need(op);
    }
    std::vector<bir::Instruction> kept;
    kept.reserve(list.size());
    for (uint32_t i = 0; i < list.size(); ++i)
      if (alive[i]) kept.push_back(std::move(list[i]));
    const int64_t removed = static_cast<int64_t>(list.size() - kept.size());
    if (removed == 0) {
      for (size_t i = 0; i < kept.size(); ++i) list[i] = std::move(kept[i]);
      return 0;
    }
    for (bir::Instruction& inst : kept) inst.dependencies.clear();  // positions moved; recomputed later
    list = std::move(kept);
    return removed;
  }
};

}  // namespace

std::unique_ptr<Pass> make_dead_code_elim() { return std::make_unique<DeadCodeElim>(); }

}  // namespace ncc::walrus
