// All static loops become one flat block: per iteration the axis values are put into the accesses, sets that
// a loop owns get a fresh location, and Matmult flags become constants (START when all k axes stand at their
// first iteration, STOP at their last). A group gets a new number at each START. Linear in the instructions
// produced; more than the limit is refused before anything is built. Instructions of one loop body keep
// sharing one source entry, named after the original instruction. Source: spec/walrus.md §6 (unroll), DESIGN
// section 14 C3, C6.
#include <unordered_map>

#include "ir-formats/bir/access.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::kNone;
using bir::Opcode;

/// Saturating count of what unrolling gives.
int64_t count_instructions(const bir::Function& fn, const bir::Block& block, int64_t limit) {
  int64_t total = 0;
  for (const bir::Instruction& inst : block.instructions) {
    int64_t n = 1;
    if (inst.opcode == Opcode::Loop) {
      const int64_t body = count_instructions(fn, *inst.body, limit);
      const int64_t trips = fn.axes[inst.axis].trip_count();
      n = body == 0 || trips == 0 ? 0 : (trips > limit / body ? limit + 1 : trips * body);
    }
    total += n;
    if (total > limit) return limit + 1;
  }
  return total;
}

class Unroller {
 public:
  Unroller(bir::Module& module, bir::Function& fn) : module_(module), fn_(fn) {
    values_.assign(fn.axes.size(), 0);
    scoped_.resize(fn.axes.size());
    current_.assign(fn.sets.size(), kNone);
    instances_.assign(fn.sets.size(), 0);
    for (uint32_t s = 0; s < fn.sets.size(); ++s) {
      bir::MemoryLocationSet& set = fn.sets[s];
      if (set.scope != kNone) scoped_[set.scope].push_back(s);
      if (!set.locations.empty()) {
        current_[s] = set.locations.front();
        instances_[s] = 1;
      }
    }
  }

  void run(int64_t total) {
    out_.reserve(static_cast<size_t>(total));
    block(fn_.block, "");
    fn_.block.instructions = std::move(out_);
    for (bir::MemoryLocationSet& set : fn_.sets) set.scope = kNone;
  }

 private:
  void block(bir::Block& in, const std::string& suffix) {
    for (bir::Instruction& inst : in.instructions) {
      if (inst.opcode == Opcode::Loop) {
        loop(inst, suffix);
      } else {
        clone(inst, suffix);
      }
    }
  }

  void loop(bir::Instruction& inst, const std::string& suffix) {
    const bir::LoopAxis& axis = fn_.axes[inst.axis];
    for (int64_t value = axis.lower, trip = 0; value < axis.upper; value += axis.step, ++trip) {
      values_[inst.axis] = value;
      // A new iteration owns new locations; the first may use the one that came with the module.
      for (uint32_t set : scoped_[inst.axis])
        if (instances_[set] > 1 || trip > 0) current_[set] = kNone;
      block(*inst.body, fmt::format("{}.{}", suffix, trip));
    }
    for (uint32_t set : scoped_[inst.axis]) {
      current_[set] = kNone;
      instances_[set] = std::max<int64_t>(instances_[set], 2);
    }
  }

  uint32_t location(uint32_t set) {
    if (current_[set] != kNone) return current_[set];
    bir::MemoryLocationSet& s = fn_.sets[set];
    const std::string name = s.locations.empty() ? s.name : fmt::format("{}.{}", s.name, s.locations.size());
    bir::MemoryLocation l = bir::make_location(fn_, set, name);
    if (!s.locations.empty()) l.base_alignment = fn_.locations[s.locations.front()].base_alignment;
    current_[set] = static_cast<uint32_t>(fn_.locations.size());
    s.locations.push_back(current_[set]);
    fn_.locations.push_back(std::move(l));
    return current_[set];
  }

  void resolve(bir::Operand& op) {
    if (op.kind != bir::OperandKind::SymbolicAp) return;
    op.kind = bir::OperandKind::PhysicalAp;
    op.partition = static_cast<int32_t>(affine::evaluate(op.partition_expr, values_));
    op.offset = affine::evaluate(op.offset_expr, values_);
    op.partition_expr = op.offset_expr = nullptr;
    op.location = location(op.set);
  }

  /// One source entry per instruction of the original program and user op.
  uint32_t source_of(const bir::Instruction& inst) {
    const auto [it, fresh] = sources_.try_emplace(&inst, static_cast<uint32_t>(module_.sources.size()));
    if (fresh) {
      isa::SourceInst source =
          inst.source < module_.sources.size() ? module_.sources[inst.source] : isa::SourceInst{};
      source.name = inst.name;
      module_.sources.push_back(std::move(source));
    }
    return it->second;
  }

  void clone(const bir::Instruction& inst, const std::string& suffix) {
    bir::Instruction copy;
    copy.name = inst.name + suffix;
    copy.opcode = inst.opcode;
    copy.engine = inst.engine;
    copy.ins = inst.ins;
    copy.outs = inst.outs;
    copy.queue = inst.queue;
    copy.source = source_of(inst);
    if (inst.attributes) copy.attributes = std::make_unique<bir::Attributes>(*inst.attributes);
    for (bir::Operand& op : copy.ins) resolve(op);
    for (bir::Operand& op : copy.outs) resolve(op);
    if (inst.opcode == Opcode::Matmult) resolve_flags(copy.mutable_attrs());
    out_.push_back(std::move(copy));
  }

  void resolve_flags(bir::Attributes& attrs) {
    if (attrs.accumulation_flag & bir::Attributes::kAutoFlag) {
      bool first = true, last = true;
      for (affine::AxisId id : attrs.k_axes) {
        const bir::LoopAxis& axis = fn_.axes[id];
        first = first && values_[id] == axis.lower;
        last = last && values_[id] + axis.step >= axis.upper;
      }
      attrs.accumulation_flag = static_cast<uint8_t>((first ? 1 : 4) | (last ? 2 : 0));
    }
    attrs.k_axes.clear();
    if (attrs.group == kNone) {
      attrs.group = next_group_++;
      return;
    }
    const auto [it, fresh] = groups_.try_emplace(attrs.group, next_group_);
    if (fresh || (attrs.accumulation_flag & 1)) it->second = next_group_++;
    attrs.group = it->second;
  }

  bir::Module& module_;
  bir::Function& fn_;
  std::vector<int64_t> values_;
  std::vector<std::vector<uint32_t>> scoped_;  // by axis
  std::vector<uint32_t> current_;              // by set: its location now
  std::vector<int64_t> instances_;             // by set
  std::unordered_map<const bir::Instruction*, uint32_t> sources_;
  std::unordered_map<uint32_t, uint32_t> groups_;
  uint32_t next_group_ = 0;
  std::vector<bir::Instruction> out_;
};

class Unroll final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    if (module.sources.empty()) module.sources.emplace_back();
    for (bir::Function& fn : module.functions) {
      const int64_t total = count_instructions(fn, fn.block, ctx.max_instructions);
      if (total > ctx.max_instructions) return error(Code::EBIR003, fn.name, ctx.max_instructions);
      Unroller(module, fn).run(total);
      ctx.count("PostUnrollInstructionCount", total);
    }
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_unroll() { return std::make_unique<Unroll>(); }

}  // namespace ncc::walrus
