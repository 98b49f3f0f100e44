// References and shapes of the container: what every reader guarantees and every pass keeps.
#include <unordered_set>

#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/verify.h"

namespace ncc::bir {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 40;

class Checker {
 public:
  Checker(const Module& module, const Function& fn) : module_(module), fn_(fn) {}

  Status check() {
    for (const LoopAxis& axis : fn_.axes)
      if (axis.step <= 0 || axis.lower < -kMaxCount || axis.upper > kMaxCount)
        return bad("axis '{}' has bounds {}..{} step {}", axis.name, axis.lower, axis.upper, axis.step);
    for (size_t i = 0; i < fn_.locations.size(); ++i) NCC_TRY(location(fn_.locations[i]));
    std::unordered_set<std::string_view> names;
    for (const MemoryLocationSet& set : fn_.sets) {
      if (!names.insert(set.name).second) return bad("the set '{}' occurs twice", set.name);
      NCC_TRY(storage(set));
    }
    return block(fn_.block);
  }

 private:
  template <class... Args>
  Status bad(fmt::format_string<Args...> pattern, Args&&... args) const {
    return error(Code::EBIR001, fmt::format("function '{}': {}", fn_.name,
                                            fmt::format(pattern, std::forward<Args>(args)...)));
  }

  Status location(const MemoryLocation& l) const {
    if (l.set >= fn_.sets.size()) return bad("location '{}' belongs to no set", l.name);
    if (l.partitions < 1 || l.partitions > 128 || l.bytes_per_partition < 0 ||
        l.bytes_per_partition > kMaxCount)
      return bad("location '{}' has {} partitions of {} bytes", l.name, l.partitions, l.bytes_per_partition);
    if (l.base_alignment < 1) return bad("location '{}' has base alignment {}", l.name, l.base_alignment);
    if (l.allocated && (l.base < 0 || l.bank < 0 || l.address < 0 || l.base + l.partitions > 128))
      return bad("location '{}' is placed at partition {} bank {} address {}", l.name, l.base, l.bank,
                 l.address);
    return Status::ok();
  }

  Status storage(const MemoryLocationSet& set) const {
    if (set.name.empty()) return bad("a set without a name");
    if (set.scope != kNone && set.scope >= fn_.axes.size())
      return bad("set '{}' has an unknown scope", set.name);
    if (info(set.dtype).machine.empty())
      return bad("set '{}' has the element type {}, which the machine lacks", set.name, info(set.dtype).hlo);
    int64_t bytes = size_bytes(set.dtype);
    for (int64_t dim : set.shape) {
      if (dim < 0 || dim > kMaxCount || (dim > 0 && bytes > kMaxCount / dim))
        return bad("set '{}' has a dimension of {}", set.name, dim);
      bytes *= dim;
    }
    if (set.memory != Memory::Dram && (set.shape.empty() || set.shape[0] < 1 || set.shape[0] > 128))
      return bad("set '{}' on chip must have 1 to 128 partitions", set.name);
    if (set.kind != TensorKind::Internal && set.memory != Memory::Dram)
      return bad("set '{}' is an {} but not in DRAM", set.name, name(set.kind));
    for (uint32_t id : set.locations)
      if (id >= fn_.locations.size()) return bad("set '{}' has an unknown location", set.name);
    return Status::ok();
  }

  Status expr(affine::Ref e, const Instruction& inst) const {
    if (!e) return bad("'{}': a symbolic access without a start", inst.name);
    for (const affine::Term& term : e->terms)
      if (term.axis >= fn_.axes.size()) return bad("'{}': an access over an unknown axis", inst.name);
    return Status::ok();
  }

  Status operand(const Operand& op, const Instruction& inst) const {
    if (op.kind == OperandKind::Immediate || op.kind == OperandKind::Register) return Status::ok();
    if (op.rank > kMaxPatternDims) return bad("'{}': a pattern of {} dims", inst.name, op.rank);
    int64_t elements = 1;
    for (int i = 0; i < op.rank; ++i) {
      if (op.ap[i].count < 1 || op.ap[i].count > kMaxCount || op.ap[i].step < -kMaxCount ||
          op.ap[i].step > kMaxCount)
        return bad("'{}': a pattern with [{}, {}]", inst.name, op.ap[i].step, op.ap[i].count);
      if (elements > kMaxCount / op.ap[i].count) return bad("'{}': too many elements", inst.name);
      elements *= op.ap[i].count;
    }
    if (op.set >= fn_.sets.size()) return bad("'{}': an access to no set", inst.name);
    if (op.kind == OperandKind::PhysicalAp) {
      if (op.location >= fn_.locations.size()) return bad("'{}': an access to no location", inst.name);
      return Status::ok();
    }
    NCC_TRY(expr(op.partition_expr, inst));
    return expr(op.offset_expr, inst);
  }

  Status block(const Block& in) {
    for (const Instruction& inst : in.instructions) {
      const OpcodeInfo& row = info(inst.opcode);
      if (static_cast<int>(inst.ins.size()) < row.ins_min ||
          static_cast<int>(inst.ins.size()) > row.ins_max ||
          static_cast<int>(inst.outs.size()) < row.outs_min ||
          static_cast<int>(inst.outs.size()) > row.outs_max)
        return bad("'{}': {} with {} inputs and {} outputs", inst.name, row.name, inst.ins.size(),
                   inst.outs.size());
      for (const Operand& op : inst.ins) NCC_TRY(operand(op, inst));
      for (const Operand& op : inst.outs) {
        if (op.kind == OperandKind::Immediate) return bad("'{}': an immediate as output", inst.name);
        NCC_TRY(operand(op, inst));
      }
      for (const Dependency& dep : inst.dependencies)
        if (dep.predecessor >= in.instructions.size() || &in.instructions[dep.predecessor] == &inst)
          return bad("'{}': a dependency on an unknown instruction", inst.name);
      if (inst.queue != kNone && inst.queue >= module_.queues.size())
        return bad("'{}': an unknown queue", inst.name);
      if (inst.source != 0 && inst.source >= module_.sources.size())
        return bad("'{}': an unknown source entry", inst.name);
      const Attributes& attrs = inst.attrs();
      for (affine::AxisId axis : attrs.k_axes)
        if (axis >= fn_.axes.size()) return bad("'{}': an unknown k axis", inst.name);
      if (attrs.pattern_rank > isa::kMaxFreeDims)
        return bad("'{}': a pattern of {} dims", inst.name, attrs.pattern_rank);
      if (inst.opcode != Opcode::Loop) continue;
      if (inst.axis >= fn_.axes.size() || !inst.body) return bad("loop '{}' has no axis or body", inst.name);
      NCC_TRY(block(*inst.body));
    }
    return Status::ok();
  }

  const Module& module_;
  const Function& fn_;
};

}  // namespace

Status verify_structure(const Module& module) {
  if (module.functions.empty()) return error(Code::EBIR001, "a module without functions");
  for (const Function& fn : module.functions) NCC_TRY(Checker(module, fn).check());
  return Status::ok();
}

}  // namespace ncc::bir
