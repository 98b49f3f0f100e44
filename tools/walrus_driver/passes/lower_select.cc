// Select -> TensorCopy of the false value, then CopyPredicated of the true one under the mask, on the same
// engine. When the result shares its set with the mask or the true value the copy would destroy an operand
// that is still needed; such a Select is refused, since only the producer knows a spare location. Source:
// spec/walrus.md §4.8.
#include "ir-formats/bir/lower.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::Opcode;

class LowerSelect final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) NCC_TRY(block(module, fn.block));
    ctx.count("selects_lowered", lowered_);
    return Status::ok();
  }

 private:
  static bool shares_set(const bir::Operand& a, const bir::Operand& b) {
    return a.kind != bir::OperandKind::Immediate && b.kind != bir::OperandKind::Immediate && a.set == b.set;
  }

  Status block(const bir::Module& module, bir::Block& in) {
    bool found = false;
    for (bir::Instruction& inst : in.instructions) {
      if (inst.body) NCC_TRY(block(module, *inst.body));
      found = found || inst.opcode == Opcode::Select;
    }
    if (!found) return Status::ok();
    std::vector<bir::Instruction> out;
    for (bir::Instruction& inst : in.instructions) {
      if (inst.opcode != Opcode::Select) {
        out.push_back(std::move(inst));
        continue;
      }
      const bir::Operand &mask = inst.ins[0], &on_true = inst.ins[1], &on_false = inst.ins[2];
      if (on_false.kind == bir::OperandKind::Immediate)
        return bir::illegal(module, inst, "an immediate false value");
      if (shares_set(inst.outs[0], mask) || shares_set(inst.outs[0], on_true))
        return bir::illegal(module, inst, "the result overwrites the mask or the true value");
      bir::Instruction copy;
      copy.name = inst.name + "_false";
      copy.opcode = Opcode::TensorCopy;
      copy.engine = inst.engine;
      copy.ins = {on_false};
      copy.outs = {inst.outs[0]};
      copy.source = inst.source;
      out.push_back(std::move(copy));
      inst.opcode = Opcode::CopyPredicated;
      inst.ins = {on_true, mask};
      inst.dependencies.clear();
      out.push_back(std::move(inst));
      ++lowered_;
    }
    // Positions moved; edges are recomputed after allocation.
    for (bir::Instruction& inst : out) inst.dependencies.clear();
    in.instructions = std::move(out);
    return Status::ok();
  }

  int64_t lowered_ = 0;
};

}  // namespace

std::unique_ptr<Pass> make_lower_select() { return std::make_unique<LowerSelect>(); }

}  // namespace ncc::walrus
