#include "ir-formats/hlo/compare.h"

#include <unordered_map>
#include <utility>

#include "ir-formats/hlo/instruction_table.h"
#include "ir-formats/hlo/print_attributes.h"

namespace ncc::hlo {
namespace {

// Unread wire fields have no text form; they do not count.
bool same_attributes(const Attributes& a, const Attributes& b) {
  if (a == b) return true;
  if (a.unknown_fields == b.unknown_fields) return false;
  Attributes left = a, right = b;
  left.unknown_fields.clear();
  right.unknown_fields.clear();
  return left == right;
}

class Comparison {
 public:
  Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

  bool run() {
    if (!facts()) return false;
    if (!same_computation(*a_.entry(), *b_.entry())) return false;
    // Computations that nothing calls are compared by name.
    for (const auto& computation : a_.computations()) {
      if (pairs_.count(computation.get())) continue;
      const Computation* other = b_.find(computation->name());
      if (!other)
        return differ(fmt::format("computation {} is missing in the second module", computation->name()));
      if (!same_computation(*computation, *other)) return false;
    }
    if (a_.computations().size() != b_.computations().size())
      return differ(
          fmt::format("{} and {} computations", a_.computations().size(), b_.computations().size()));
    return true;
  }
  const std::string& difference() const { return difference_; }

 private:
  bool differ(std::string why) {
    if (difference_.empty()) difference_ = std::move(why);
    return false;
  }
  bool differ(const Instruction& a, const Instruction& b, std::string_view what) {
    return differ(fmt::format("{} of computation {} and {} of computation {}: {}", describe(a),
                              a.parent->name(), describe(b), b.parent->name(), what));
  }

  bool facts() {
    if (a_.replica_count != b_.replica_count || a_.num_partitions != b_.num_partitions)
      return differ("replica or partition counts");
    if (a_.is_scheduled != b_.is_scheduled) return differ("one module is scheduled");
    if (a_.aliases != b_.aliases) return differ("input-output aliases");
    if (a_.donors != b_.donors) return differ("buffer donors");
    if (a_.frontend_attributes != b_.frontend_attributes) return differ("frontend attributes of the module");
    if (a_.entry_parameter_shapes != b_.entry_parameter_shapes ||
        !(a_.entry_result_shape == b_.entry_result_shape))
      return differ("layouts of the entry");
    return true;
  }

  // Walks both roots and side effects in parallel; pairs are remembered, so shared values are compared once.
  bool same_computation(const Computation& a, const Computation& b) {
    const auto known = pairs_.find(&a);
    if (known != pairs_.end())
      return known->second == &b
                 ? true
                 : differ(fmt::format(
                       "computation {} is used where two different ones are in the second module", a.name()));
    pairs_.emplace(&a, &b);
    if (a.size() != b.size())
      return differ(fmt::format("computations {} and {} have {} and {} instructions", a.name(), b.name(),
                                a.size(), b.size()));
    if (a.execution_thread != b.execution_thread)
      return differ(fmt::format("execution threads of {}", a.name()));
    InstructionTable<const Instruction*> twins(a);
    const std::vector<Instruction*> order_a = reachable_order(a), order_b = reachable_order(b);
    if (order_a.size() != order_b.size())
      return differ(fmt::format("computations {} and {} use {} and {} instructions", a.name(), b.name(),
                                order_a.size(), order_b.size()));
    for (size_t i = 0; i < order_a.size(); ++i) {
      twins[order_a[i]] = order_b[i];
      if (!same_instruction(*order_a[i], *order_b[i], twins)) return false;
    }
    if (twins[a.root()] != b.root()) return differ(fmt::format("roots of {} and {}", a.name(), b.name()));
    return true;
  }

  // An order that depends on structure alone: depth first from the root, then from each effect in storage
  // order.
  static std::vector<Instruction*> reachable_order(const Computation& computation) {
    std::vector<Instruction*> order;
    InstructionTable<char> seen(computation);
    const auto first_visit = [&](const Instruction* inst) { return std::exchange(seen[inst], char{1}) == 0; };
    const auto visit = [&](Instruction* start) {
      std::vector<std::pair<Instruction*, size_t>> stack;
      if (first_visit(start)) stack.emplace_back(start, 0);
      while (!stack.empty()) {
        auto& [inst, next] = stack.back();
        const size_t count = inst->operands.size() + inst->control_predecessors.size();
        if (next == count) {
          order.push_back(inst);
          stack.pop_back();
          continue;
        }
        Instruction* child = next < inst->operands.size()
                                 ? inst->operands[next]
                                 : inst->control_predecessors[next - inst->operands.size()];
        ++next;
        if (first_visit(child)) stack.emplace_back(child, 0);
      }
    };
    for (Instruction* parameter : computation.parameters()) visit(parameter);
    visit(computation.root());
    // What is left ends in values that nobody uses: effects and dead code.
    InstructionTable<char> used(computation);
    for (const auto& inst : computation.instructions()) {
      for (const Instruction* operand : inst->operands) used[operand] = 1;
      for (const Instruction* before : inst->control_predecessors) used[before] = 1;
    }
    for (const auto& inst : computation.instructions()) {
      if (!used[inst.get()]) visit(inst.get());
    }
    return order;
  }

  bool same_instruction(const Instruction& a, const Instruction& b,
                        InstructionTable<const Instruction*>& twins) {
    if (a.opcode != b.opcode) return differ(a, b, "opcodes");
    if (!(a.shape == b.shape))
      return differ(a, b,
                    fmt::format("shapes {} and {}", to_string(a.shape, true), to_string(b.shape, true)));
    if (a.direction != b.direction || a.compare_type != b.compare_type)
      return differ(a, b, "comparison direction or type");
    if (a.dimensions != b.dimensions) return differ(a, b, "dimensions");
    if (a.index != b.index) return differ(a, b, "index");
    if (a.is(Opcode::Parameter) && a.parent->is_entry() && a.name != b.name)
      return differ(a, b, "names of a parameter");
    if (!(a.literal == b.literal)) return differ(a, b, "values");
    if (!same_attributes(a.attrs(), b.attrs()))
      return differ(a, b, fmt::format("attributes '{}' and '{}'", attributes_text(a), attributes_text(b)));
    if (a.operands.size() != b.operands.size() ||
        a.control_predecessors.size() != b.control_predecessors.size() || a.called.size() != b.called.size())
      return differ(a, b, "numbers of operands, control predecessors or called computations");
    for (size_t i = 0; i < a.operands.size(); ++i) {
      if (twins[a.operands[i]] != b.operands[i]) return differ(a, b, fmt::format("operand {}", i));
    }
    for (size_t i = 0; i < a.control_predecessors.size(); ++i) {
      if (twins[a.control_predecessors[i]] != b.control_predecessors[i])
        return differ(a, b, fmt::format("control predecessor {}", i));
    }
    for (size_t i = 0; i < a.called.size(); ++i) {
      if (!same_computation(*a.called[i], *b.called[i])) return false;
    }
    return true;
  }

  const Module& a_;
  const Module& b_;
  std::unordered_map<const Computation*, const Computation*> pairs_;
  std::string difference_;
};

}  // namespace

bool same_module(const Module& a, const Module& b, std::string* difference) {
  Comparison comparison(a, b);
  if (comparison.run()) return true;
  if (difference) *difference = comparison.difference();
  return false;
}

}  // namespace ncc::hlo
