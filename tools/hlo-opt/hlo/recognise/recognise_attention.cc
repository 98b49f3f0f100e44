// Tags the second contraction of softmax(q k^T * scale + mask) v: its left operand is a tagged softmax over
// the contracted dimension, the logits of which are, behind scaling, masking and ops that compute nothing, a
// contraction. Needs the tags of recognise-softmax. Source: spec/hlo-front-half.md §4.7; DESIGN §6 (2).
#include <algorithm>
#include <charconv>

#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"
#include "tools/hlo-opt/hlo/recognise/trace.h"

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

// The axes of a tag: "softmax axis=1,2".
Dims axes_of(const Instruction* tagged) {
  const std::string_view tag = pattern_of(tagged);
  Dims axes;
  size_t at = tag.find('=');
  while (at != std::string_view::npos && at + 1 < tag.size()) {
    int64_t axis = 0;
    std::from_chars(tag.data() + at + 1, tag.data() + tag.size(), axis);
    axes.push_back(axis);
    at = tag.find(',', at + 1);
  }
  return axes;
}

// Operand `side` of the contraction is summed over along the axes of the weights, and along no other.
bool contracts_axes(const Instruction* dot, int64_t side, const Instruction* weights) {
  const auto dims = traced_dimensions(dot->operand(side), weights);
  if (!dims) return true;
  const hlo::DotDims& numbers = dot->attrs().dot;
  const Dims axes = axes_of(weights);
  size_t met = 0;
  for (const int64_t d : side == 0 ? numbers.lhs_contracting : numbers.rhs_contracting) {
    const int64_t there = (*dims)[static_cast<size_t>(d)];
    if (there == kUnknown) return true;
    if (std::find(axes.begin(), axes.end(), there) == axes.end()) return false;
    ++met;
  }
  return met == axes.size();
}

std::optional<std::string> find_attention(const Instruction* inst) {
  if (!inst->is(Opcode::Dot)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction* weights = source_of(inst->operand(i));
    if (!has_pattern(weights, "softmax") || !contracts_axes(inst, i, weights)) continue;
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
