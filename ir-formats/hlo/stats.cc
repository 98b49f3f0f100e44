#include "ir-formats/hlo/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ncc::hlo {
namespace {

double leaf_sum(const Shape& shape, double (*of)(const Shape&)) {
  if (!shape.is_tuple()) return shape.is_array() ? of(shape) : 0;
  double sum = 0;
  for (const Shape& element : shape.elements) sum += leaf_sum(element, of);
  return sum;
}
double elements(const Shape& shape) {
  return leaf_sum(shape, [](const Shape& s) { return static_cast<double>(s.num_elements()); });
}
double bytes(const Shape& shape) {
  return leaf_sum(shape, [](const Shape& s) { return static_cast<double>(s.size_bytes()); });
}

double size_product(const Shape& shape, const std::vector<int64_t>& dims) {
  double product = 1;
  for (int64_t d : dims) {
    if (d >= 0 && d < shape.rank()) product *= static_cast<double>(shape.dims[static_cast<size_t>(d)]);
  }
  return product;
}

// Multiplies and adds for one element of the result.
double contracted(const Instruction& inst) {
  const Attributes& a = inst.attrs();
  if (!inst.is(Opcode::Convolution)) return size_product(inst.operand_shape(0), a.dot.lhs_contracting);
  if (!a.conv) return 0;
  const Shape& kernel = inst.operand_shape(1);
  return size_product(kernel, a.conv->kernel_spatial) * size_product(kernel, {a.conv->kernel_input_feature});
}

double window_taps(const Instruction& inst) {
  double taps = 1;
  for (const WindowDim& d : inst.attrs().window) taps *= static_cast<double>(d.size);
  return taps;
}

double own_flops(const Instruction& inst) {
  switch (inst.info().kind) {
    case OpKind::Contract:
      return 2 * elements(inst.shape) * contracted(inst);
    case OpKind::Unary:
    case OpKind::Binary:
    case OpKind::Elementwise:
    case OpKind::Quantize:
      return inst.is(Opcode::Map) ? 0 : elements(inst.shape);
    case OpKind::Reduce:
      return inst.is(Opcode::Reduce) ? elements(inst.operand_shape(0)) : 0;
    case OpKind::Window:
      return inst.is(Opcode::ReduceWindow) ? elements(inst.shape) * window_taps(inst)
                                           : elements(inst.operand_shape(0));
    default:
      return 0;
  }
}

// Views and glue move nothing themselves.
bool moves_data(const Instruction& inst) {
  const OpKind kind = inst.info().kind;
  if (kind == OpKind::Tuple || kind == OpKind::Token || kind == OpKind::Control || kind == OpKind::Async)
    return false;
  return !inst.is(Opcode::Parameter) && !inst.is(Opcode::Constant) && !inst.is(Opcode::Bitcast);
}

bool applies_scalars(const Instruction& inst) {
  switch (inst.info().kind) {
    case OpKind::Reduce:
    case OpKind::Window:
    case OpKind::Index:
    case OpKind::Collective:
    case OpKind::Elementwise:
      return true;
    default:
      return false;
  }
}

// What one run of a computation does, its callees included.
struct Work {
  double moved_bytes = 0;
  std::unordered_map<Opcode, double> flops;

  void add(const Work& other, double times) {
    moved_bytes += times * other.moved_bytes;
    for (const auto& [opcode, count] : other.flops) flops[opcode] += times * count;
  }
  double total() const {
    double sum = 0;
    for (const auto& [opcode, count] : flops) sum += count;
    return sum;
  }
};

class Counter {
 public:
  const Work& work(const Computation& computation) {
    // Callees are counted first (`count` asks in post order), so this recursion is one deep.
    const auto known = known_.find(&computation);
    if (known != known_.end()) return known->second;
    Work made;
    for (const auto& inst : computation.instructions()) {
      if (const double flops = own_flops(*inst); flops > 0) made.flops[inst->opcode] += flops;
      if (moves_data(*inst)) {
        made.moved_bytes += bytes(inst->shape);
        for (const Instruction* operand : inst->operands) made.moved_bytes += bytes(operand->shape);
      }
      if (!inst->called.empty() && !applies_scalars(*inst)) add_called(*inst, &made);
    }
    return known_[&computation] = std::move(made);
  }
  int64_t unknown_loops() const { return unknown_loops_; }

 private:
  void add_called(const Instruction& inst, Work* made) {
    if (inst.is(Opcode::Conditional)) {
      const Work* dearest = nullptr;
      for (const Computation* branch : inst.called) {
        const Work& candidate = work(*branch);
        if (!dearest || candidate.total() > dearest->total()) dearest = &candidate;
      }
      return made->add(*dearest, 1);
    }
    double times = 1;
    if (inst.is(Opcode::While)) {
      const int64_t trips = constant_trip_count(inst);
      if (trips < 0) ++unknown_loops_;
      times = trips < 0 ? 1 : static_cast<double>(trips);
    }
    for (const Computation* called : inst.called) made->add(work(*called), times);
  }

  std::unordered_map<const Computation*, Work> known_;
  int64_t unknown_loops_ = 0;
};

}  // namespace

double ModuleStats::flops() const {
  double sum = 0;
  for (const auto& [name, op] : ops) sum += op.flops;
  return sum;
}

ModuleStats stats(const Module& module) {
  ModuleStats made;
  Counter counter;
  for (const Computation* computation : module.post_order()) {
    ++made.computations;
    counter.work(*computation);
    for (const auto& inst : computation->instructions()) {
      ++made.instructions;
      OpStats& op = made.ops[std::string(name(inst->opcode))];
      ++op.count;
      op.elements += elements(inst->shape);
      if (inst->is(Opcode::Constant)) made.constant_bytes += bytes(inst->shape);
    }
  }
  const Work& all = counter.work(*module.entry());
  made.moved_bytes = all.moved_bytes;
  for (const auto& [opcode, flops] : all.flops) made.ops[std::string(name(opcode))].flops = flops;
  for (const Instruction* parameter : module.entry()->parameters())
    made.parameter_bytes += bytes(parameter->shape);
  made.result_bytes = bytes(module.entry()->root()->shape);
  made.unknown_loops = counter.unknown_loops();
  return made;
}

std::string print_stats(const Module& module) {
  const ModuleStats s = stats(module);
  std::string text = fmt::format("module {}\ncomputations {}\ninstructions {}\n", module.name(),
                                 s.computations, s.instructions);
  text += fmt::format("parameter_bytes {:.0f}\nconstant_bytes {:.0f}\nresult_bytes {:.0f}\n",
                      s.parameter_bytes, s.constant_bytes, s.result_bytes);
  text += fmt::format("moved_bytes {:.0f}\nflops {:.0f}\n", s.moved_bytes, s.flops());
  if (s.unknown_loops > 0) text += fmt::format("loops_counted_once {}\n", s.unknown_loops);
  std::vector<std::pair<std::string, OpStats>> rows(s.ops.begin(), s.ops.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.flops, a.second.count) > std::pair(b.second.flops, b.second.count);
  });
  text += fmt::format("\n{:<28} {:>8} {:>16} {:>18}\n", "op", "count", "elements", "flops");
  for (const auto& [op, row] : rows)
    text += fmt::format("{:<28} {:>8} {:>16.0f} {:>18.0f}\n", op, row.count, row.elements, row.flops);
  return text;
}

}  // namespace ncc::hlo
