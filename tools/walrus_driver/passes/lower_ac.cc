// Replaces each AbstractCopy and GenericCopy by the concrete copy that its two memories call for:
//   DRAM -> SBUF     Load           on-chip -> on-chip  TensorCopy
//   SBUF -> DRAM     Save           DRAM -> DRAM        DMACopy
// Reads memories only, so it may stand before or after unroll. A copy on chip without an engine goes to DVE.
// Source: spec/walrus.md §1.4 (inferred), spec/bir.md §2.
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::Memory;
using bir::Opcode;

Opcode concrete_copy(Memory from, Memory to) {
  if (from == Memory::Dram) return to == Memory::Dram ? Opcode::DMACopy : Opcode::Load;
  return to == Memory::Dram ? Opcode::Save : Opcode::TensorCopy;
}

class LowerAbstractCopy final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) block(fn, fn.block);
    ctx.count("copies_lowered", lowered_);
    return Status::ok();
  }

 private:
  void block(const bir::Function& fn, bir::Block& in) {
    for (bir::Instruction& inst : in.instructions) {
      if (inst.body) block(fn, *inst.body);
      if (inst.opcode != Opcode::AbstractCopy && inst.opcode != Opcode::GenericCopy) continue;
      if (inst.ins[0].kind == bir::OperandKind::Immediate) continue;  // the verifier names it
      inst.opcode = concrete_copy(fn.sets[inst.ins[0].set].memory, fn.sets[inst.outs[0].set].memory);
      if (bir::is_dma(inst.opcode)) {
        inst.engine = bir::Engine::DMA;
      } else if (inst.engine == bir::Engine::Unassigned || inst.engine == bir::Engine::DMA) {
        inst.engine = bir::Engine::DVE;
      }
      ++lowered_;
    }
  }

  int64_t lowered_ = 0;
};

}  // namespace

std::unique_ptr<Pass> make_lower_ac() { return std::make_unique<LowerAbstractCopy>(); }

}  // namespace ncc::walrus
