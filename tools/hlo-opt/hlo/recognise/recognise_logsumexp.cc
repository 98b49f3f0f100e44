// Tags, through ops that compute nothing, along one or several dimensions
//   logsumexp    log(sum(exp(x - m))) + m, m = max(x)
// and of two values
//   logaddexp    m + log(exp(a - m) + exp(b - m)) or m + log1p(exp(-|a - b|)), m = max(a, b)
// Source: spec/hlo-front-half.md §4.5; DESIGN §6 (2): only a tag.
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"
#include "tools/hlo-opt/hlo/recognise/trace.h"

namespace ncc::hlo_passes {
namespace {

// exp(x - m) of one of the values and exp(y - m) of the other.
bool are_shifted(const Instruction* sum, const Instruction* a, const Instruction* b, const Instruction* m) {
  if (!sum->is(Opcode::Add)) return false;
  const Instruction* seen[2] = {};
  for (int64_t i : {0, 1}) {
    const Instruction* e = source_of(sum->operand(i));
    if (!e->is(Opcode::Exp)) return false;
    const Instruction* shifted = source_of(e->operand(0));
    if (!shifted->is(Opcode::Subtract) || source_of(shifted->operand(1)) != m) return false;
    seen[i] = source_of(shifted->operand(0));
  }
  return (seen[0] == a && seen[1] == b) || (seen[0] == b && seen[1] == a);
}

// -|a - b|
bool is_minus_distance(const Instruction* value, const Instruction* a, const Instruction* b) {
  if (!value->is(Opcode::Negate)) return false;
  const Instruction* distance = source_of(value->operand(0));
  if (!distance->is(Opcode::Abs)) return false;
  const Instruction* difference = source_of(distance->operand(0));
  if (!difference->is(Opcode::Subtract)) return false;
  const Instruction *x = source_of(difference->operand(0)), *y = source_of(difference->operand(1));
  return (x == a && y == b) || (x == b && y == a);
}

bool is_logaddexp(const Instruction* inst) {
  for (int64_t i : {0, 1}) {
    const Instruction *log = source_of(inst->operand(i)), *m = source_of(inst->operand(1 - i));
    if (!m->is(Opcode::Maximum)) continue;
    const Instruction *a = source_of(m->operand(0)), *b = source_of(m->operand(1));
    if (log->is(Opcode::Log) && are_shifted(source_of(log->operand(0)), a, b, m)) return true;
    if (!log->is(Opcode::Log1p)) continue;
    const Instruction* e = source_of(log->operand(0));
    if (e->is(Opcode::Exp) && is_minus_distance(source_of(e->operand(0)), a, b)) return true;
  }
  return false;
}

std::optional<std::string> find_logsumexp(const Instruction* inst) {
  if (!inst->is(Opcode::Add) || !is_float(inst->shape.dtype)) return std::nullopt;
  if (is_logaddexp(inst)) return "logaddexp";
  for (int64_t i : {0, 1}) {
    const Instruction *log = source_of(inst->operand(i)), *shift = source_of(inst->operand(1 - i));
    if (!log->is(Opcode::Log)) continue;
    const auto sum = reduction_of(log->operand(0), Opcode::Add);
    if (!sum || !sum->of->is(Opcode::Exp)) continue;
    const Instruction* shifted = source_of(sum->of->operand(0));
    if (!shifted->is(Opcode::Subtract) || source_of(shifted->operand(1)) != shift) continue;
    // A maximum must be that of the elements it is taken from.
    const auto most = reduction_of(shift, Opcode::Maximum);
    const bool meets = !most || most->of != source_of(shifted->operand(0)) ||
                       (most->axes == sum->axes && meets_its_source(shifted, most->reduce, most->of));
    if (meets) return tag_along("logsumexp", sum->axes);
  }
  return std::nullopt;
}

}  // namespace

Status recognise_logsumexp(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_logsumexp);
}

}  // namespace ncc::hlo_passes
