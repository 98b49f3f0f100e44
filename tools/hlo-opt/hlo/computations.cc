#include "tools/hlo-opt/hlo/computations.h"

#include <unordered_set>
#include <vector>

#include "ir-formats/hlo/instruction_table.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Computation;
using hlo::Instruction;

void mix(size_t& hash, size_t value) { hash ^= value + 0x9E3779B97F4A7C15ull + (hash << 6) + (hash >> 2); }

using Canonical = std::unordered_map<const Computation*, Computation*>;

// Positions of a computation's instructions in storage.
using Positions = hlo::InstructionTable<int64_t>;

Positions positions_of(const Computation& computation) {
  Positions positions(computation);
  int64_t next = 0;
  for (const auto& inst : computation.instructions()) positions[inst.get()] = next++;
  return positions;
}

size_t hash_of(const Computation& computation, const Canonical& canonical) {
  Positions positions = positions_of(computation);
  size_t hash = static_cast<size_t>(computation.size());
  mix(hash, static_cast<size_t>(positions[computation.root()]));
  for (const auto& inst : computation.instructions()) {
    mix(hash, static_cast<size_t>(inst->opcode));
    mix(hash, static_cast<size_t>(inst->index));
    mix(hash, static_cast<size_t>(inst->shape.dtype));
    for (int64_t size : inst->shape.dims) mix(hash, static_cast<size_t>(size));
    for (const Instruction* operand : inst->operands) mix(hash, static_cast<size_t>(positions[operand]));
    for (const Computation* called : inst->called) mix(hash, std::hash<const void*>()(canonical.at(called)));
  }
  return hash;
}

bool are_equal(const Computation& a, const Computation& b, const Canonical& canonical) {
  if (a.size() != b.size() || a.is_fusion != b.is_fusion || a.execution_thread != b.execution_thread)
    return false;
  Positions in_a = positions_of(a), in_b = positions_of(b);
  if (in_a[a.root()] != in_b[b.root()]) return false;
  for (size_t i = 0; i < a.instructions().size(); ++i) {
    const Instruction &x = *a.instructions()[i], &y = *b.instructions()[i];
    if (x.operands.size() != y.operands.size() || x.called.size() != y.called.size() ||
        x.control_predecessors.size() != y.control_predecessors.size() || !same_operation(x, y))
      return false;
    for (size_t k = 0; k < x.operands.size(); ++k)
      if (in_a[x.operands[k]] != in_b[y.operands[k]]) return false;
    for (size_t k = 0; k < x.control_predecessors.size(); ++k)
      if (in_a[x.control_predecessors[k]] != in_b[y.control_predecessors[k]]) return false;
    for (size_t k = 0; k < x.called.size(); ++k)
      if (canonical.at(x.called[k]) != canonical.at(y.called[k])) return false;
  }
  return true;
}

}  // namespace

std::vector<hlo::Computation*> step_computations(const hlo::Module& module) {
  std::vector<Computation*> found = {module.entry()};
  std::unordered_set<const Computation*> seen = {module.entry()};
  for (size_t next = 0; next < found.size(); ++next) {
    for (const auto& inst : found[next]->instructions()) {
      const bool goes_on = inst->is(hlo::Opcode::While) || inst->is(hlo::Opcode::Conditional) ||
                           inst->is(hlo::Opcode::Call) || inst->is(hlo::Opcode::Fusion);
      if (!goes_on) continue;
      for (Computation* callee : inst->called)
        if (seen.insert(callee).second) found.push_back(callee);
    }
  }
  return found;
}

Computation* clone_computation(const Computation& computation) {
  Computation* copy = computation.module()->add_computation(computation.name());
  copy->is_fusion = computation.is_fusion;
  copy->execution_thread = computation.execution_thread;
  std::unordered_map<const Instruction*, Instruction*> twins;
  for (const Instruction* inst : computation.post_order()) {
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands) operands.push_back(twins.at(operand));
    Instruction* twin = copy->add_clone(*inst, std::move(operands));
    for (const Instruction* before : inst->control_predecessors)
      twin->control_predecessors.push_back(twins.at(before));
    twins[inst] = twin;
  }
  copy->set_root(twins.at(computation.root()));
  return copy;
}

bool same_operation(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.direction == b.direction && a.compare_type == b.compare_type &&
         a.index == b.index && a.dimensions == b.dimensions && a.shape == b.shape &&
         (a.has_attrs() || b.has_attrs() ? a.attrs() == b.attrs() : true) && a.literal == b.literal;
}

Canonical equal_computations(const hlo::Module& module) {
  Canonical canonical;
  std::unordered_map<size_t, std::vector<Computation*>> seen;
  for (Computation* computation : module.post_order()) {
    canonical[computation] = computation;
    std::vector<Computation*>& candidates = seen[hash_of(*computation, canonical)];
    for (Computation* candidate : candidates) {
      if (!are_equal(*candidate, *computation, canonical)) continue;
      canonical[computation] = candidate;
      break;
    }
    if (canonical[computation] == computation) candidates.push_back(computation);
  }
  return canonical;
}

}  // namespace ncc::hlo_passes
