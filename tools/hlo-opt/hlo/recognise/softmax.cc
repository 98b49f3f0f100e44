// Tags along one dimension:
//   softmax   e / sum(e) or e * (1 / sum(e)), e = exp(x - max(x)) or exp(x)
//   logsumexp log(sum(exp(x - m))) + m, m = max(x)
// through ops that compute nothing. Source: spec/hlo-front-half.md §4.1, §4.5; DESIGN §6 (2): only a tag.
#include <fmt/format.h>

#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"

namespace ncc::hlo_passes {
namespace {

// The axis when `sum` is the sum of `e` along one dimension.
std::optional<int64_t> sum_axis(const Instruction* sum, const Instruction* e) {
  const auto reduction = reduction_of(sum, Opcode::Add);
  if (!reduction || reduction->of != e || !e->is(Opcode::Exp)) return std::nullopt;
  return reduction->axis;
}

std::optional<std::string> find_softmax(const Instruction* inst) {
  if (!is_float(inst->shape.dtype)) return std::nullopt;
  if (inst->is(Opcode::Divide)) {
    if (const auto axis = sum_axis(inst->operand(1), source_of(inst->operand(0))))
      return fmt::format("softmax axis={}", *axis);
  }
  if (!inst->is(Opcode::Multiply)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction* inverse = source_of(inst->operand(i));
    if (!inverse->is(Opcode::Divide) || !is_about(inverse->operand(0), 1)) continue;
    if (const auto axis = sum_axis(inverse->operand(1), source_of(inst->operand(1 - i))))
      return fmt::format("softmax axis={}", *axis);
  }
  return std::nullopt;
}

std::optional<std::string> find_logsumexp(const Instruction* inst) {
  if (!inst->is(Opcode::Add)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction *log = source_of(inst->operand(i)), *shift = source_of(inst->operand(1 - i));
    if (!log->is(Opcode::Log)) continue;
    const auto sum = reduction_of(log->operand(0), Opcode::Add);
    if (!sum || !sum->of->is(Opcode::Exp)) continue;
    const Instruction* shifted = source_of(sum->of->operand(0));
    if (shifted->is(Opcode::Subtract) && source_of(shifted->operand(1)) == shift)
      return fmt::format("logsumexp axis={}", sum->axis);
  }
  return std::nullopt;
}

}  // namespace

Status recognise_softmax(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_softmax);
}

Status recognise_logsumexp(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_logsumexp);
}

}  // namespace ncc::hlo_passes
