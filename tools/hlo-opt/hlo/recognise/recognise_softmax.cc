// Tags along one or several dimensions, through ops that compute nothing:
//   softmax      e / sum(e) or e * (1 / sum(e)), e = exp(x - max(x)) or exp(x)
//   softmax-grad y * (dy - sum(dy * y)), y a tagged softmax
// Source: spec/hlo-front-half.md §4.1; DESIGN §6 (2): only a tag.
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"
#include "tools/hlo-opt/hlo/recognise/trace.h"

namespace ncc::hlo_passes {
namespace {

// The axes when `sum` is the sum of `e`, which meet in `inst`.
std::optional<Dims> sum_axes(const Instruction* inst, const Instruction* sum, const Instruction* e) {
  const auto reduction = reduction_of(sum, Opcode::Add);
  if (!reduction || reduction->of != e || !e->is(Opcode::Exp) ||
      !meets_its_source(inst, reduction->reduce, e))
    return std::nullopt;
  return reduction->axes;
}

// The other operand of a + b or a * b.
const Instruction* partner(const Instruction* pair, const Instruction* one) {
  for (int64_t i : {0, 1})
    if (source_of(pair->operand(i)) == one) return source_of(pair->operand(1 - i));
  return nullptr;
}

std::optional<std::string> find_softmax_gradient(const Instruction* inst) {
  for (int64_t i : {0, 1}) {
    const Instruction *y = source_of(inst->operand(i)), *difference = source_of(inst->operand(1 - i));
    if (!has_pattern(y, "softmax") || !difference->is(Opcode::Subtract)) continue;
    const auto sum = reduction_of(difference->operand(1), Opcode::Add);
    if (!sum || !sum->of->is(Opcode::Multiply)) continue;
    const Instruction* dy = source_of(difference->operand(0));
    if (partner(sum->of, y) == dy && meets_its_source(difference, sum->reduce, dy))
      return tag_along("softmax-grad", sum->axes);
  }
  return std::nullopt;
}

std::optional<std::string> find_softmax(const Instruction* inst) {
  if (!is_float(inst->shape.dtype)) return std::nullopt;
  if (inst->is(Opcode::Divide)) {
    if (const auto axes = sum_axes(inst, inst->operand(1), source_of(inst->operand(0))))
      return tag_along("softmax", *axes);
  }
  if (!inst->is(Opcode::Multiply)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction* inverse = source_of(inst->operand(i));
    if (!inverse->is(Opcode::Divide) || !is_about(inverse->operand(0), 1)) continue;
    if (const auto axes = sum_axes(inst, inverse->operand(1), source_of(inst->operand(1 - i))))
      return tag_along("softmax", *axes);
  }
  return find_softmax_gradient(inst);
}

}  // namespace

Status recognise_softmax(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_softmax);
}

}  // namespace ncc::hlo_passes
