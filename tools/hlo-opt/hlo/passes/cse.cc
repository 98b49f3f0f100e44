// Common subexpressions: instructions that do the same to the same values become one. Operands of commutative
// ops may be swapped; called computations are equal when their contents are. Left alone: parameters, effects,
// control edges, custom-calls and asynchronous pairs (an opaque call may have state that it does not state).
// Linear: one hash table per computation.
#include <algorithm>

#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

void mix(size_t& hash, size_t value) { hash ^= value + 0x9E3779B97F4A7C15ull + (hash << 6) + (hash >> 2); }

// Large constants are told apart by their ends; equality looks at all of them.
size_t hash_of(const Literal& literal) {
  if (literal.is_tuple()) return literal.elements().size();
  constexpr size_t kEnd = 256;
  const std::string_view bytes(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
  size_t hash = bytes.size();
  mix(hash, std::hash<std::string_view>()(bytes.substr(0, kEnd)));
  mix(hash, std::hash<std::string_view>()(bytes.substr(bytes.size() - std::min(bytes.size(), kEnd))));
  return hash;
}

bool may_merge(const ComputationEditor& edit, const Instruction& inst) {
  return !edit.is_pinned(&inst) && !inst.is(Opcode::CustomCall) && inst.info().kind != hlo::OpKind::Async &&
         inst.info().kind != hlo::OpKind::Collective;
}

class Table {
 public:
  explicit Table(const std::unordered_map<const Computation*, Computation*>& canonical)
      : canonical_(canonical) {}

  // An equal instruction seen before, or nullptr; then `inst` is remembered.
  Instruction* find_or_add(Instruction* inst) {
    std::vector<Instruction*>& candidates = table_[hash(*inst)];
    for (Instruction* candidate : candidates) {
      if (equal(*candidate, *inst)) return candidate;
    }
    candidates.push_back(inst);
    return nullptr;
  }

 private:
  static std::vector<Instruction*> operand_key(const Instruction& inst) {
    std::vector<Instruction*> operands = inst.operands;
    if (inst.info().commutative && operands.size() == 2 && operands[0]->id > operands[1]->id)
      std::swap(operands[0], operands[1]);
    return operands;
  }

  size_t hash(const Instruction& inst) const {
    size_t hash = static_cast<size_t>(inst.opcode);
    mix(hash, static_cast<size_t>(inst.index));
    mix(hash, static_cast<size_t>(inst.shape.dtype));
    for (int64_t size : inst.shape.dims) mix(hash, static_cast<size_t>(size));
    for (int64_t dim : inst.dimensions) mix(hash, static_cast<size_t>(dim));
    for (int64_t start : inst.attrs().slice_starts) mix(hash, static_cast<size_t>(start));
    for (const Instruction* operand : operand_key(inst)) mix(hash, static_cast<size_t>(operand->id));
    if (inst.literal.is_valid()) mix(hash, hash_of(inst.literal));
    return hash;
  }

  bool equal(const Instruction& a, const Instruction& b) const {
    if (a.called.size() != b.called.size() || operand_key(a) != operand_key(b) || !same_operation(a, b))
      return false;
    return std::equal(a.called.begin(), a.called.end(), b.called.begin(),
                      [&](Computation* x, Computation* y) { return canonical_.at(x) == canonical_.at(y); });
  }

  const std::unordered_map<const Computation*, Computation*>& canonical_;
  std::unordered_map<size_t, std::vector<Instruction*>> table_;
};

}  // namespace

Status cse(hlo::Module& module, PassContext& context) {
  const auto canonical = equal_computations(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    Table table(canonical);
    for (Instruction* inst : computation->post_order()) {
      if (edit.is_dead(inst) || !may_merge(edit, *inst)) continue;
      Instruction* earlier = table.find_or_add(inst);
      if (earlier) edit.replace(inst, earlier);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
