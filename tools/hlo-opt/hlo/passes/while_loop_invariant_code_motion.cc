// Work of a loop body that is the same in every iteration moves before the loop; the loop carries its result.
// Moved: maximal values whose operands are invariant elements, constants or moved themselves, made by real
// work (no broadcasts, reshapes and the like, which cost nothing where they are used) and not larger than 64
// MiB. Stays: control flow (it might not end when the loop does not run), effects, collectives, random
// numbers and custom-calls. Linear in the body.
#include <algorithm>

#include "ir-formats/hlo/instruction_table.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMaxCarried = int64_t{64} << 20;

bool is_movable_op(const Instruction& inst) {
  if (!is_plain_array(&inst) || inst.is(Opcode::Parameter) || inst.is(Opcode::CustomCall) ||
      !inst.control_predecessors.empty())
    return false;
  switch (inst.info().kind) {
    case hlo::OpKind::Control:
    case hlo::OpKind::Token:
    case hlo::OpKind::Collective:
    case hlo::OpKind::Async:
    case hlo::OpKind::Rng:
    case hlo::OpKind::Tuple:
      return false;
    default:
      return !inst.has_side_effect();
  }
}

// Made where it is used, at no cost.
bool is_free(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Constant:
    case Opcode::Iota:
    case Opcode::Broadcast:
    case Opcode::Reshape:
    case Opcode::Slice:
    case Opcode::GetTupleElement:
      return true;
    default:
      return false;
  }
}

class Mover {
 public:
  Mover(ComputationEditor& edit, Instruction* loop)
      : edit_(edit),
        loop_(loop),
        invariant_(*loop->while_body()),
        is_moved_(*loop->while_body()),
        outside_(*loop->while_body()) {}

  bool run() {
    Computation* body = loop_->while_body();
    std::vector<Instruction*> moved;
    for (Instruction* inst : body->post_order()) {
      const bool is_invariant_now = is_leaf(*inst) || (is_movable_op(*inst) && all_invariant(*inst));
      invariant_[inst] = is_invariant_now;
      if (is_invariant_now) continue;
      // Values that something varying reads: these are what must be carried.
      for (Instruction* operand : inst->operands) {
        if (!invariant_[operand] || is_free(*operand) || operand->shape.size_bytes() > kMaxCarried) continue;
        if (!is_moved_[operand]) moved.push_back(operand);
        is_moved_[operand] = 1;
      }
    }
    if (moved.empty()) return false;
    std::vector<Instruction*> values;
    for (Instruction* inst : moved) values.push_back(outside(inst));
    const int64_t first = static_cast<int64_t>(loop_->shape.elements.size());
    add_invariants(edit_, loop_, values);
    Instruction* parameter = body->parameters()[0];
    std::unordered_map<Instruction*, Instruction*> replacements;
    for (size_t k = 0; k < moved.size(); ++k)
      replacements[moved[k]] = body->add_get(parameter, first + static_cast<int64_t>(k));
    body->replace_uses(replacements);
    body->remove_dead();
    return true;
  }

 private:
  bool is_leaf(const Instruction& inst) const {
    if (inst.is(Opcode::Constant)) return true;
    return inst.is(Opcode::GetTupleElement) && inst.operand(0)->is(Opcode::Parameter) &&
           is_invariant(*loop_, inst.index) && is_plain_array(&inst);
  }

  bool all_invariant(const Instruction& inst) {
    return std::all_of(inst.operands.begin(), inst.operands.end(),
                       [&](const Instruction* operand) { return invariant_[operand]; });
  }

  // The value before the loop; operands first, without recursion on long chains.
  Instruction* outside(Instruction* value) {
    std::vector<Instruction*> work{value};
    while (!work.empty()) {
      Instruction* inst = work.back();
      if (outside_[inst]) {
        work.pop_back();
        continue;
      }
      bool is_ready = true;
      for (Instruction* operand : inst->operands) {
        if (inst->is(Opcode::GetTupleElement) || outside_[operand]) continue;
        work.push_back(operand);
        is_ready = false;
      }
      if (!is_ready) continue;
      work.pop_back();
      if (inst->is(Opcode::GetTupleElement)) {
        outside_[inst] = edit_.element(loop_->operand(0), inst->index);
        continue;
      }
      std::vector<Instruction*> operands;
      for (Instruction* operand : inst->operands) operands.push_back(outside_[operand]);
      outside_[inst] = edit_.clone(inst, std::move(operands));
    }
    return outside_[value];
  }

  ComputationEditor& edit_;
  Instruction* loop_;
  hlo::InstructionTable<char> invariant_, is_moved_;
  hlo::InstructionTable<Instruction*> outside_;
};

}  // namespace

Status while_loop_invariant_code_motion(hlo::Module& module, PassContext& context) {
  const auto callers = caller_counts(module);
  // Inner loops first: what leaves one may leave the next as well.
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::While) || edit.is_dead(inst) || !owns_its_state(edit, *inst, callers)) continue;
      edit.set_location(inst->loc);
      if (!Mover(edit, inst).run()) continue;
      if (edit.use_count(inst) == 0) edit.erase(inst);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
