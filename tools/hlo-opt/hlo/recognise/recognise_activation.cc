// Tags of activation functions in open form, factors in any order:
//   gelu      x/2 * (1 + erf(x / sqrt 2)), or with erfc(-x / sqrt 2)
//   gelu-tanh x/2 * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//   silu      x * logistic(x), or x * 1 / (1 + exp(-x)), or x / (1 + exp(-x))
// Source: spec/hlo-front-half.md §4.4; DESIGN §6 (2).
#include <cmath>
#include <numbers>

#include "tools/hlo-opt/hlo/passes.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"

namespace ncc::hlo_passes {
namespace {

// The other summand of 1 + y.
const Instruction* above_one(const Instruction* sum) {
  if (!sum->is(Opcode::Add)) return nullptr;
  for (int64_t i : {0, 1}) {
    if (is_about(sum->operand(i), 1)) return source_of(sum->operand(1 - i));
  }
  return nullptr;
}

// value = x * factor, as a product or a quotient; -x counts as x with the opposite factor.
bool is_multiple(const Instruction* value, const Instruction* x, double factor) {
  value = source_of(value);
  if (value->is(Opcode::Divide) && source_of(value->operand(0)) == x)
    return is_about(value->operand(1), 1 / factor);
  if (value->is(Opcode::Negate)) return is_multiple(value->operand(0), x, -factor);
  double found = 1;
  int64_t times = 0;
  for (const Instruction* part : factors_of(value, x)) {
    if (part == x) {
      ++times;
    } else if (part->is(Opcode::Negate) && source_of(part->operand(0)) == x) {
      ++times;
      found = -found;
    } else if (const auto number = number_of(part)) {
      found *= *number;
    } else {
      return false;
    }
  }
  return times == 1 && std::fabs(found - factor) <= std::fabs(factor) * 0x1p-7;
}

// x^3, however it is multiplied, times `factor`.
bool is_cube(const Instruction* value, const Instruction* x, double factor) {
  double found = 1;
  int64_t times = 0;
  for (const Instruction* part : factors_of(value, x)) {
    const auto number = number_of(part);
    if (part == x) {
      ++times;
    } else if (number) {
      found *= *number;
    } else if (part->is(Opcode::Power) && source_of(part->operand(0)) == x && is_about(part->operand(1), 3)) {
      times += 3;
    } else if (squared(part) == x) {
      times += 2;
    } else {
      return false;
    }
  }
  return times == 3 && std::fabs(found - factor) <= std::fabs(factor) * 0x1p-6;
}

// sqrt(2/pi) (x + 0.044715 x^3)
bool is_tanh_argument(const Instruction* value, const Instruction* x) {
  bool scaled = false, inner = false;
  for (const Instruction* part : factors_of(value, x)) {
    if (is_about(part, std::sqrt(2 / std::numbers::pi))) {
      scaled = true;
    } else if (part->is(Opcode::Add) && !inner) {
      for (int64_t i : {0, 1}) {
        if (source_of(part->operand(i)) == x && is_cube(part->operand(1 - i), x, 0.044715)) inner = true;
      }
    } else {
      return false;
    }
  }
  return scaled && inner;
}

// The gelu of x whose gate is 1 + erf(…), erfc(…) or 1 + tanh(…): its tag.
std::optional<std::string> gate(const Instruction* factor, const Instruction* x) {
  const double root_half = 1 / std::numbers::sqrt2;
  if (factor->is(Opcode::Erfc) && is_multiple(factor->operand(0), x, -root_half)) return "gelu";
  const Instruction* inner = above_one(factor);
  if (!inner) return std::nullopt;
  if (inner->is(Opcode::Erf) && is_multiple(inner->operand(0), x, root_half)) return "gelu";
  if (inner->is(Opcode::Tanh) && is_tanh_argument(inner->operand(0), x)) return "gelu-tanh";
  return std::nullopt;
}

// What may be the x of a gate: the operands of the argument's product, or of the sum inside it.
std::vector<const Instruction*> candidates(const Instruction* factor) {
  const Instruction* function = factor->is(Opcode::Erfc) ? factor : above_one(factor);
  if (!function || function->num_operands() != 1) return {};
  std::vector<const Instruction*> found{source_of(function->operand(0))};
  // A negation, a scale, and for tanh the sum and its scale are the most that stands above x.
  for (size_t next = 0; next < found.size() && found.size() < 16; ++next) {
    const Instruction* value = found[next];
    if (value->is(Opcode::Multiply) || value->is(Opcode::Divide) || value->is(Opcode::Negate) ||
        value->is(Opcode::Add)) {
      for (const Instruction* operand : value->operands) found.push_back(source_of(operand));
    }
  }
  return found;
}

std::optional<std::string> tag_with(const Instruction* product, const Instruction* x) {
  std::optional<std::string> tag;
  double scale = 1;
  int64_t times = 0;
  for (const Instruction* factor : factors_of(product, x)) {
    const auto number = number_of(factor);
    if (factor == x) {
      ++times;
    } else if (number) {
      scale *= *number;
    } else if (auto found = gate(factor, x)) {
      if (tag) return std::nullopt;
      tag = found;
    } else if (factor->is(Opcode::Divide) && source_of(factor->operand(0)) == x &&
               number_of(factor->operand(1))) {
      ++times;
      scale /= *number_of(factor->operand(1));
    } else {
      return std::nullopt;
    }
  }
  if (times != 1 || std::fabs(scale - 0.5) > 0x1p-8) return std::nullopt;
  return tag;
}

std::optional<std::string> find_gelu(const Instruction* product) {
  for (const Instruction* factor : factors_of(product)) {
    for (const Instruction* x : candidates(factor)) {
      if (number_of(x)) continue;
      if (auto tag = tag_with(product, x)) return tag;
    }
  }
  return std::nullopt;
}

// 1 + exp(-x)
bool is_logistic_denominator(const Instruction* value, const Instruction* x) {
  const Instruction* exp = above_one(source_of(value));
  return exp && exp->is(Opcode::Exp) && is_multiple(exp->operand(0), x, -1);
}

bool is_logistic(const Instruction* value, const Instruction* x) {
  if (value->is(Opcode::Logistic)) return source_of(value->operand(0)) == x;
  return value->is(Opcode::Divide) && is_about(value->operand(0), 1) &&
         is_logistic_denominator(value->operand(1), x);
}

std::optional<std::string> find_activation(const Instruction* inst) {
  if (inst->is(Opcode::Divide)) {
    const Instruction* x = source_of(inst->operand(0));
    if (!number_of(x) && is_logistic_denominator(inst->operand(1), x)) return "silu";
    return std::nullopt;
  }
  if (!inst->is(Opcode::Multiply)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    if (is_logistic(source_of(inst->operand(i)), source_of(inst->operand(1 - i)))) return "silu";
  }
  return find_gelu(inst);
}

}  // namespace

Status recognise_activation(hlo::Module& module, PassContext& context) {
  return tag_each(module, context.changes, find_activation);
}

}  // namespace ncc::hlo_passes
