// Final addresses of operands: what the scheduler's cost keys and the code generator read.
#pragma once
#include "ir-formats/bir/access.h"

namespace ncc::walrus {

class PhysicalMap final : public bir::AccessMap {
 public:
  PhysicalMap(const bir::Function& fn, const ArchModel& arch)
      : fn_(fn), bank_bytes_(arch.psum_bank_bytes), layout_(bir::dram_layout(fn)) {}

  bir::Origin origin(const bir::Operand& op) const override {
    NCC_CHECK(op.kind == bir::OperandKind::PhysicalAp, "an access that unroll left symbolic");
    const bir::MemoryLocation& l = fn_.locations[op.location];
    bir::Origin origin;
    switch (l.memory) {
      case bir::Memory::Dram:
        origin.space = isa::Space::Dram;
        origin.variable = layout_.of_location[op.location];
        origin.offset = fn_.sets[l.set].kind == bir::TensorKind::Internal && l.allocated ? l.address : 0;
        break;
      case bir::Memory::Sbuf:
      case bir::Memory::Psum:
        NCC_CHECK(l.allocated, "location '{}' has no address", l.name);
        origin.space = l.memory == bir::Memory::Sbuf ? isa::Space::Sbuf : isa::Space::Psum;
        origin.partition = l.base;
        origin.offset = l.address + int64_t{l.bank} * bank_bytes_;
        break;
    }
    return bir::at_start(origin, op, op.partition, op.offset);
  }
  const bir::DramLayout& layout() const { return layout_; }

 private:
  const bir::Function& fn_;
  int64_t bank_bytes_;
  bir::DramLayout layout_;
};

}  // namespace ncc::walrus
