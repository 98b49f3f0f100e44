// Algebraic simplification: local identities that keep every bit. The rules are a table (algsimp_rules.def)
// and live in algsimp/ by family. What only holds for finite numbers, or only up to rounding, is not here:
// x * 0, x - x, x + 0, sums in another order, division by reciprocal unless it is exact.
#include "tools/hlo-opt/hlo/passes/algsimp.h"

#include <array>

#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

struct Rule {
  Opcode opcode;
  Rewrite rewrite;
};

constexpr Rule kRules[] = {
#define RULE(opcode, function, summary) {Opcode::opcode, algsimp_rules::function},
#include "tools/hlo-opt/hlo/passes/algsimp_rules.def"
};

using Table = std::array<std::vector<Rewrite>, 256>;

const Table& rules_by_opcode() {
  static const Table table = [] {
    Table made;
    for (const Rule& rule : kRules) made[static_cast<size_t>(rule.opcode)].push_back(rule.rewrite);
    return made;
  }();
  return table;
}

Instruction* simplify(ComputationEditor& edit, Instruction* inst) {
  for (Rewrite rewrite : rules_by_opcode()[static_cast<size_t>(inst->opcode)]) {
    if (Instruction* value = rewrite(edit, inst)) return value;
  }
  return nullptr;
}

// Rules speak of arrays of fixed size; sort and reduce may have tuple results.
bool is_in_scope(const Instruction& inst) {
  for (const Instruction* operand : inst.operands)
    if (!is_plain_array(operand)) return false;
  if (inst.shape.is_tuple()) return inst.is(Opcode::Sort) || inst.is(Opcode::Reduce);
  return is_plain_array(&inst);
}

}  // namespace

Status algsimp(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    return is_in_scope(*inst) ? simplify(edit, inst) : static_cast<Instruction*>(nullptr);
  });
}

}  // namespace ncc::hlo_passes
