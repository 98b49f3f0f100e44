// Verifies the accumulation flags that hlo-opt and unroll gave: a group starts with START unless its result
// was written before, ends with STOP, and while a group is open no other group writes its bytes. Changes
// nothing. Presumes unroll. Source: DESIGN section 14 C3; spec/walrus.md §3.6.
#include <unordered_map>

#include "ir-formats/bir/lower.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::Opcode;

struct Range {
  int64_t low, high;
  bool overlaps(const Range& other) const { return low < other.high && other.low < high; }
};

Range bytes(const bir::Operand& op) {
  const int64_t size = size_bytes(op.dtype);
  Range range{op.offset, op.offset + 1};
  for (int i = 1; i < op.rank; ++i) {
    const int64_t reach = op.ap[i].step * (op.ap[i].count - 1);
    (reach < 0 ? range.low : range.high) += reach;
  }
  return {range.low * size, range.high * size};
}

bool share_rows(const bir::Operand& a, const bir::Operand& b) {
  return a.partition < b.partition + b.num_partitions() && b.partition < a.partition + a.num_partitions();
}

class VerifyGroups final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) NCC_TRY(check(module, fn, ctx));
    return Status::ok();
  }

 private:
  struct Open {
    uint32_t group;
    const bir::Instruction* latest;
  };

  static Status check(const bir::Module& module, const bir::Function& fn, PassContext& ctx) {
    std::unordered_map<uint32_t, std::vector<Open>> open;  // by location
    std::vector<bool> written(fn.locations.size(), false);
    int64_t groups = 0;
    for (const bir::Instruction& inst : fn.block.instructions) {
      if (inst.opcode != Opcode::Matmult || inst.outs[0].kind != bir::OperandKind::PhysicalAp) {
        for (const bir::Operand& op : inst.outs)
          if (op.kind == bir::OperandKind::PhysicalAp) written[op.location] = true;
        continue;
      }
      const bir::Operand& out = inst.outs[0];
      const uint8_t flag = inst.attrs().accumulation_flag;
      std::vector<Open>& list = open[out.location];
      Open* mine = nullptr;
      for (Open& o : list) {
        if (o.group == inst.attrs().group) {
          mine = &o;
        } else if (share_rows(o.latest->outs[0], out) && bytes(o.latest->outs[0]).overlaps(bytes(out))) {
          return bir::illegal(
              module, inst,
              fmt::format("writes bytes on which '{}' has not ended its accumulation", o.latest->name));
        }
      }
      if (!mine) {
        if ((flag & 5) == 4 && !written[out.location])
          return bir::illegal(module, inst, "accumulates without a START or an earlier write");
        list.push_back({inst.attrs().group, &inst});
        mine = &list.back();
        ++groups;
      }
      mine->latest = &inst;
      written[out.location] = true;
      if (flag & 2) list.erase(list.begin() + (mine - list.data()));
    }
    for (const auto& [location, list] : open)
      if (!list.empty())
        return bir::illegal(module, *list.front().latest, "its accumulation group has no STOP");
    ctx.count("accumulation_groups", groups);
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_legalize_mm_accumulation_groups() { return std::make_unique<VerifyGroups>(); }

}  // namespace ncc::walrus
