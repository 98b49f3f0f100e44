// Tags the second contraction of softmax(q k^T * scale + mask) v: its left operand is a tagged softmax over
// the contracted dimension, the logits of which are, behind scaling, masking and ops that compute nothing, a
// contraction. Needs the tags of recognise-softmax. Source: spec/hlo-front-half.md §4.7; DESIGN §6 (2).
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"

namespace ncc::hlo_passes {
namespace {

constexpr int kMostSteps = 32;  // between the logits and their contraction, both sides of sums counted

// The contraction that the logits come from; masked is set when something was added or selected on the way.
const Instruction* scores_of(const Instruction* value, bool* masked, int* steps) {
  while (--*steps >= 0) {
    value = source_of(value);
    if (value->is(Opcode::Dot)) return value;
    if (value->is(Opcode::Multiply) || value->is(Opcode::Divide)) {
      value = value->operand(number_of(value->operand(0)) ? 1 : 0);
    } else if (value->is(Opcode::Select)) {
      *masked = true;
      const bool second = number_of(value->operand(1)).has_value();
      value = value->operand(second ? 2 : 1);
    } else if (value->is(Opcode::Add)) {
      // The mask is the summand without a contraction behind it.
      *masked = true;
      bool ignored = false;
      const Instruction* found = scores_of(value->operand(0), &ignored, steps);
      return found ? found : scores_of(value->operand(1), masked, steps);
    } else if (value->is(Opcode::Subtract) || value->is(Opcode::Tanh)) {
      value = value->operand(0);
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

std::optional<std::string> find_attention(const Instruction* inst) {
  if (!inst->is(Opcode::Dot)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction* weights = source_of(inst->operand(i));
    if (!has_pattern(weights, "softmax")) continue;
    // e of e / sum(e) or e * (1 / sum(e)).
    for (int64_t j : {0, 1}) {
      const Instruction* e = source_of(weights->operand(j));
      if (!e->is(Opcode::Exp)) continue;
      bool masked = false;
      int steps = kMostSteps;
      if (scores_of(e->operand(0), &masked, &steps)) return masked ? "attention masked" : "attention";
    }
  }
  return std::nullopt;
}

}  // namespace

Status recognise_attention(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_attention);
}

}  // namespace ncc::hlo_passes
