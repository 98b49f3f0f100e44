// Tags along one or several dimensions, scale and offset outside:
//   layer-norm c * rsqrt(v + eps) or c / sqrt(v + eps), c = x - mean(x), v = mean(c^2) or mean(x^2) -
//   mean(x)^2 rms-norm   x * rsqrt(mean(x^2) + eps) or x / sqrt(mean(x^2) + eps)
// The factor may be multiplied by a scale before it meets c. Source: spec/hlo-front-half.md §4.6; DESIGN §6
// (2).
#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"
#include "tools/hlo-opt/hlo/recognise/trace.h"

namespace ncc::hlo_passes {
namespace {

// The value v of rsqrt(v + eps), 1 / sqrt(v + eps) or, under a division, sqrt(v + eps).
const Instruction* deviation(const Instruction* factor, bool divides) {
  factor = source_of(factor);
  if (!divides && factor->is(Opcode::Divide) && is_about(factor->operand(0), 1))
    return deviation(factor->operand(1), true);
  const bool is_power = factor->is(Opcode::Power) && is_about(factor->operand(1), divides ? 0.5 : -0.5);
  if (!is_power && !factor->is(divides ? Opcode::Sqrt : Opcode::Rsqrt)) return nullptr;
  const Instruction* sum = source_of(factor->operand(0));
  if (!sum->is(Opcode::Add)) return nullptr;
  for (int64_t i : {0, 1}) {
    if (number_of(sum->operand(i))) return source_of(sum->operand(1 - i));
  }
  return nullptr;
}

// The axes when v is the variance of the value that `centred` is centred from.
std::optional<Dims> variance_axes(const Instruction* v, const Instruction* centred) {
  if (!centred->is(Opcode::Subtract)) return std::nullopt;
  const Instruction* x = source_of(centred->operand(0));
  const auto mean = mean_of(centred->operand(1));
  if (!mean || mean->of != x || !meets_its_source(centred, mean->reduce, x)) return std::nullopt;
  // A difference of means may be kept from falling below 0.
  if (v->is(Opcode::Maximum)) v = source_of(v->operand(number_of(v->operand(0)) ? 1 : 0));
  if (const auto direct = mean_of(v)) {
    const Instruction* base = squared(direct->of);
    if (!base || !base->is(Opcode::Subtract) || source_of(base->operand(0)) != x ||
        direct->axes != mean->axes)
      return std::nullopt;
    const auto again = mean_of(base->operand(1));
    if (again && again->of == x && again->axes == mean->axes) return direct->axes;
  } else if (v->is(Opcode::Subtract)) {
    const auto squares = mean_of(v->operand(0));
    const Instruction* of_mean = squared(v->operand(1));
    const auto again = of_mean ? mean_of(of_mean) : std::nullopt;
    if (squares && again && squared(squares->of) == x && again->of == x && squares->axes == mean->axes &&
        again->axes == mean->axes)
      return squares->axes;
  }
  return std::nullopt;
}

// The mean that v is, or that it is the difference of another from.
std::optional<Reduction> first_mean(const Instruction* v) {
  if (v->is(Opcode::Maximum)) v = source_of(v->operand(number_of(v->operand(0)) ? 1 : 0));
  return mean_of(v->is(Opcode::Subtract) ? v->operand(0) : v);
}

// `value` over the deviation whose square is v, which meet in `inst`.
std::optional<std::string> tag_for(const Instruction* inst, const Instruction* value, const Instruction* v) {
  const auto mean = first_mean(v);
  if (!mean || !meets_its_source(inst, mean->reduce,
                                 value->is(Opcode::Subtract) ? source_of(value->operand(0)) : value))
    return std::nullopt;
  if (const auto axes = variance_axes(v, value)) return tag_along("layer-norm", *axes);
  const auto squares = mean_of(v);
  if (squares && squared(squares->of) == value) return tag_along("rms-norm", squares->axes);
  return std::nullopt;
}

std::optional<std::string> find_norm(const Instruction* inst) {
  if (inst->is(Opcode::Divide)) {
    const Instruction* v = deviation(inst->operand(1), true);
    return v ? tag_for(inst, source_of(inst->operand(0)), v) : std::nullopt;
  }
  if (!inst->is(Opcode::Multiply)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    const Instruction* value = source_of(inst->operand(1 - i));
    for (const Instruction* factor : factors_of(inst->operand(i))) {
      const Instruction* v = deviation(factor, false);
      if (!v) continue;
      if (auto tag = tag_for(inst, value, v)) return tag;
    }
  }
  return std::nullopt;
}

}  // namespace

Status recognise_norm(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_norm);
}

}  // namespace ncc::hlo_passes
