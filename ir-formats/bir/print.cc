// BIR as text for people: sets, then one instruction a line with loops indented.
#include <fmt/ranges.h>

#include "ir-formats/bir/attributes.h"
#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/io.h"

namespace ncc::bir {
namespace {

struct AttributePrinter {
  std::string& out;
  const Function& fn;
  template <class T>
  void operator()(uint32_t, const char* key, const T& value, const T& fallback) {
    if (value == fallback) return;
    if constexpr (std::is_enum_v<T>) {
      out += fmt::format(" {}={}", key, isa::name(value));
    } else {
      out += fmt::format(" {}={}", key, value);
    }
  }
  void operator()(uint32_t, const char* key, const std::vector<affine::AxisId>& value,
                  const std::vector<affine::AxisId>&) {
    if (value.empty()) return;
    out += fmt::format(" {}=", key);
    for (size_t i = 0; i < value.size(); ++i) out += (i ? "," : "") + fn.axes[value[i]].name;
  }
  void operator()(uint32_t, const char* key, const Pattern& value, const Pattern& fallback) {
    if (value == fallback) return;
    out += fmt::format(" {}=", key);
    for (const Dim& dim : value) out += fmt::format("[{},{}]", dim.step, dim.count);
  }
  void operator()(uint32_t, const char* key, const LaneMask& value, const LaneMask& fallback) {
    if (value != fallback) out += fmt::format(" {}={}", key, fmt::join(value, ","));
  }
};

std::string operand(const Function& fn, const Operand& op) {
  if (op.kind == OperandKind::Immediate) return fmt::format("#0x{:08x}:{}", op.bits, info(op.dtype).machine);
  const auto axis_name = [&](affine::AxisId axis) { return fn.axes[axis].name; };
  std::string start, target;
  if (op.kind == OperandKind::SymbolicAp) {
    target = fn.sets[op.set].name;
    start = fmt::format("{}, {}", affine::to_string(op.partition_expr, axis_name),
                        affine::to_string(op.offset_expr, axis_name));
  } else {
    target = fn.locations[op.location].name;
    start = fmt::format("{}, {}", op.partition, op.offset);
  }
  std::string dims;
  for (int i = 0; i < op.rank; ++i) dims += fmt::format(" [{},{}]", op.ap[i].step, op.ap[i].count);
  return fmt::format("{}:{}({};{})", target, info(op.dtype).machine, start, dims);
}

std::string instruction(const Module& module, const Function& fn, const Instruction& inst) {
  std::string out = fmt::format("{}: {} {}", inst.name, name(inst.opcode), isa::name(inst.engine));
  for (size_t i = 0; i < inst.outs.size(); ++i) out += (i ? ", " : " ") + operand(fn, inst.outs[i]);
  if (!inst.ins.empty()) out += " <-";
  for (size_t i = 0; i < inst.ins.size(); ++i) out += (i ? ", " : " ") + operand(fn, inst.ins[i]);
  if (inst.attributes) visit_attributes(*inst.attributes, AttributePrinter{out, fn});
  if (inst.queue != kNone) out += fmt::format(" queue={}", module.queues[inst.queue].name);
  for (const isa::Wait& wait : inst.waits) out += fmt::format(" wait(s{}>={})", wait.semaphore, wait.value);
  for (const isa::Update& update : inst.updates)
    out += fmt::format(" {}(s{},{})", isa::name(update.mode), update.semaphore, update.value);
  if (inst.scheduled_end) out += fmt::format(" @{}..{}", inst.scheduled_start, inst.scheduled_end);
  return out;
}

void block(const Module& module, const Function& fn, const Block& in, int depth, std::string& out) {
  const std::string indent(2 * static_cast<size_t>(depth), ' ');
  for (const Instruction& inst : in.instructions) {
    if (inst.opcode != Opcode::Loop) {
      out += indent + instruction(module, fn, inst) + "\n";
      continue;
    }
    const LoopAxis& axis = fn.axes[inst.axis];
    out +=
        fmt::format("{}loop {} = {}..{} step {} {{\n", indent, axis.name, axis.lower, axis.upper, axis.step);
    block(module, fn, *inst.body, depth + 1, out);
    out += indent + "}\n";
  }
}

}  // namespace

std::string print(const Module& module, const Function& fn, const Instruction& inst) {
  return instruction(module, fn, inst);
}

std::string print(const Module& module) {
  std::string out = fmt::format("module {}\n", module.arch);
  for (const Function& fn : module.functions) {
    out += fmt::format("function {}\n", fn.name);
    for (const MemoryLocationSet& set : fn.sets) {
      out += fmt::format("  set {} {} {} {} [{}]", set.name, name(set.memory), name(set.kind),
                         info(set.dtype).machine, fmt::join(set.shape, ","));
      if (set.scope != kNone) out += " scope=" + fn.axes[set.scope].name;
      for (uint32_t id : set.locations) {
        const MemoryLocation& l = fn.locations[id];
        if (l.allocated) out += fmt::format(" {}@p{}:b{}:{}", l.name, l.base, l.bank, l.address);
      }
      out += "\n";
    }
    block(module, fn, fn.block, 1, out);
  }
  return out;
}

}  // namespace ncc::bir
