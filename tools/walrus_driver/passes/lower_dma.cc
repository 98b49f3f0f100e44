// Splits each transfer whose pattern needs more than four dimensions on a side (the partition one included)
// into several: after this pass one DMA instruction is one descriptor. Presumes unroll; positions only, no
// addresses. Source: DESIGN section 14 M3; spec/walrus.md §5.6, §5.7.
#include "ir-formats/bir/lower.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

bir::Origin relative_origin(const bir::Function& fn, const bir::Operand& op) {
  bir::Origin origin;
  const bir::Memory memory = fn.locations[op.location].memory;
  origin.space = memory == bir::Memory::Dram
                     ? isa::Space::Dram
                     : (memory == bir::Memory::Sbuf ? isa::Space::Sbuf : isa::Space::Psum);
  return bir::at_start(origin, op, op.partition, op.offset);
}

/// An operand that visits what the access does, relative to the location of `like`.
bir::Operand from_access(const bir::Operand& like, const isa::Access& access) {
  bir::Operand op = like;
  op.rank = 0;
  op.ap = {};
  op.partition = access.start_partition;
  op.offset = access.offset / size_bytes(like.dtype);
  if (access.space != isa::Space::Dram) op.ap[op.rank++] = {1, access.num_partitions};
  for (int i = 0; i < access.rank; ++i) op.ap[op.rank++] = access.dims[i];
  return op;
}

class LowerDma final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) {
      std::vector<bir::Instruction> out;
      bool changed = false;
      std::vector<bir::Instruction>& list = fn.block.instructions;
      out.reserve(list.size());
      for (bir::Instruction& inst : list) {
        if (!bir::is_dma(inst.opcode) || inst.ins[0].kind != bir::OperandKind::PhysicalAp) {
          out.push_back(std::move(inst));
          continue;
        }
        descriptors_.clear();
        if (!bir::make_descriptors(inst.ins[0], relative_origin(fn, inst.ins[0]), inst.outs[0],
                                   relative_origin(fn, inst.outs[0]), inst.attrs().dma_transpose, 0,
                                   descriptors_))
          return bir::illegal(module, inst, "its two patterns have no common factoring into descriptors");
        if (descriptors_.size() == 1) {
          inst.ins[0] = from_access(inst.ins[0], descriptors_[0].src);
          inst.outs[0] = from_access(inst.outs[0], descriptors_[0].dst);
          out.push_back(std::move(inst));
          continue;
        }
        changed = true;
        ctx.count("transfers_split", 1);
        for (size_t i = 0; i < descriptors_.size(); ++i) {
          bir::Instruction part;
          part.name = fmt::format("{}_part{}", inst.name, i);
          part.opcode = inst.opcode;
          part.engine = inst.engine;
          part.ins = {from_access(inst.ins[0], descriptors_[i].src)};
          part.outs = {from_access(inst.outs[0], descriptors_[i].dst)};
          part.source = inst.source;
          part.queue = inst.queue;
          out.push_back(std::move(part));
        }
      }
      list = std::move(out);
      if (changed)
        for (bir::Instruction& inst : list) inst.dependencies.clear();
    }
    return Status::ok();
  }

 private:
  std::vector<isa::DmaDescriptor> descriptors_;
};

}  // namespace

std::unique_ptr<Pass> make_lower_dma() { return std::make_unique<LowerDma>(); }

}  // namespace ncc::walrus
