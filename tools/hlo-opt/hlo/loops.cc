#include "tools/hlo-opt/hlo/loops.h"

#include <algorithm>
#include <unordered_map>

#include "tools/hlo-opt/hlo/evaluate.h"
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

// Runs the scalars that the condition needs, iteration by iteration. A scalar is known when it follows from
// constants and known elements of the state by ops that the interpreter evaluates.
class Simulation {
 public:
  explicit Simulation(const Instruction& loop) : loop_(loop) {
    if (!has_tuple_state(loop)) {
      scalar_state_ = true;
      if (loop.operand(0)->is(Opcode::Constant)) state_[0] = loop.operand(0)->literal;
      return;
    }
    for (int64_t i = 0; i < static_cast<int64_t>(loop.shape.elements.size()); ++i) {
      const Instruction* initial = initial_element(loop, i);
      if (initial && initial->is(Opcode::Constant) && initial->shape.is_scalar())
        state_[i] = initial->literal;
    }
  }

  std::optional<int64_t> run(int64_t max_steps) {
    for (int64_t step = 0; step <= max_steps; ++step) {
      Values values;
      const std::optional<Literal> goes_on = value(*loop_.while_condition()->root(), values, 0);
      if (!goes_on) return std::nullopt;
      if (goes_on->as_int64(0) == 0) return step;
      if (!advance()) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  using Values = std::unordered_map<const Instruction*, std::optional<Literal>>;

  bool advance() {
    const Instruction* root = loop_.while_body()->root();
    std::unordered_map<int64_t, Literal> next;
    Values values;
    for (const auto& [element, unused] : state_) {
      const Instruction* source = scalar_state_ ? root : root->operand(element);
      if (std::optional<Literal> literal = value(*source, values, 0)) next[element] = std::move(*literal);
    }
    state_ = std::move(next);
    return !state_.empty();
  }

  std::optional<Literal> value(const Instruction& inst, Values& values, int depth) {
    constexpr int kMaxDepth = 64;
    if (inst.is(Opcode::Constant)) return inst.literal;
    if (!inst.shape.is_scalar() || depth > kMaxDepth) return std::nullopt;
    if (inst.is(Opcode::GetTupleElement) || inst.is(Opcode::Parameter)) return element(inst);
    const auto found = values.find(&inst);
    if (found != values.end()) return found->second;
    std::optional<Literal> result;
    if (!inst.operands.empty() && work_of(inst) < 1024 && !inst.is(Opcode::CustomCall)) {
      std::vector<Literal> operands;
      for (const Instruction* operand : inst.operands) {
        std::optional<Literal> literal = value(*operand, values, depth + 1);
        if (!literal) break;
        operands.push_back(std::move(*literal));
      }
      if (operands.size() == inst.operands.size()) result = evaluate(inst, std::move(operands));
    }
    values[&inst] = result;
    return result;
  }

  std::optional<Literal> element(const Instruction& inst) const {
    if (inst.is(Opcode::Parameter) != scalar_state_) return std::nullopt;
    if (!scalar_state_ && !inst.operand(0)->is(Opcode::Parameter)) return std::nullopt;
    const auto found = state_.find(scalar_state_ ? 0 : inst.index);
    if (found == state_.end()) return std::nullopt;
    return found->second;
  }

  const Instruction& loop_;
  bool scalar_state_ = false;
  std::unordered_map<int64_t, Literal> state_;
};

struct Induction {
  int64_t element, start, step, bound;
  hlo::CompareDirection direction;  // element DIRECTION bound goes on
};

std::optional<int64_t> scalar_int(const Instruction* value) {
  if (!value || !value->is(Opcode::Constant) || !value->shape.is_scalar() ||
      !is_signed_int(value->shape.dtype))
    return std::nullopt;
  return value->literal.as_int64(0);
}

// A constant of the condition or body: written there, or an invariant element that starts as one.
std::optional<int64_t> loop_constant(const Instruction& loop, const Instruction* value) {
  if (const auto known = scalar_int(value)) return known;
  if (!value->is(Opcode::GetTupleElement) || !value->operand(0)->is(Opcode::Parameter) ||
      !is_invariant(loop, value->index))
    return std::nullopt;
  return scalar_int(initial_element(loop, value->index));
}

bool is_element(const Instruction* value, int64_t i) {
  return value->is(Opcode::GetTupleElement) && value->operand(0)->is(Opcode::Parameter) && value->index == i;
}

std::optional<Induction> induction_of(const Instruction& loop) {
  if (!has_tuple_state(loop)) return std::nullopt;
  const Instruction* condition = loop.while_condition()->root();
  if (!condition->is(Opcode::Compare)) return std::nullopt;
  const Instruction *left = condition->operand(0), *right = condition->operand(1);
  if (!left->is(Opcode::GetTupleElement) || !left->operand(0)->is(Opcode::Parameter) ||
      !is_signed_int(left->shape.dtype))
    return std::nullopt;
  Induction found{left->index, 0, 0, 0, condition->direction};
  const auto bound = loop_constant(loop, right);
  const auto start = scalar_int(initial_element(loop, found.element));
  const Instruction* next = loop.while_body()->root()->operand(found.element);
  if (!bound || !start || !next->is(Opcode::Add)) return std::nullopt;
  const int64_t own = is_element(next->operand(0), found.element) ? 0 : 1;
  if (!is_element(next->operand(own), found.element)) return std::nullopt;
  const auto step = loop_constant(loop, next->operand(1 - own));
  if (!step) return std::nullopt;
  found.bound = *bound;
  found.start = *start;
  found.step = *step;
  return found;
}

// Of loops that count up to a bound in the range of the type.
std::optional<int64_t> closed_form(const Induction& i, int bits) {
  if (i.step <= 0) return std::nullopt;
  if (i.direction != hlo::CompareDirection::LT && i.direction != hlo::CompareDirection::LE)
    return std::nullopt;
  const __int128 last = static_cast<__int128>(i.bound) - (i.direction == hlo::CompareDirection::LT ? 1 : 0);
  if (last < i.start) return 0;
  const __int128 trips = (last - i.start) / i.step + 1;
  const __int128 highest = (static_cast<__int128>(1) << (bits - 1)) - 1;
  if (i.start + trips * i.step > highest || trips > INT64_MAX) return std::nullopt;  // it would wrap
  return static_cast<int64_t>(trips);
}

}  // namespace

bool has_tuple_state(const Instruction& loop) {
  return loop.is(Opcode::While) && loop.shape.is_tuple() && loop.while_body()->root()->is(Opcode::Tuple);
}

bool is_invariant(const Instruction& loop, int64_t i) {
  return has_tuple_state(loop) && is_element(loop.while_body()->root()->operand(i), i);
}

Instruction* initial_element(const Instruction& loop, int64_t i) {
  Instruction* initial = loop.operand(0);
  return initial->is(Opcode::Tuple) ? initial->operand(i) : nullptr;
}

std::optional<int64_t> trip_count(const Instruction& loop, int64_t max_steps) {
  if (const auto induction = induction_of(loop)) {
    const Dtype dtype = loop.shape.elements[static_cast<size_t>(induction->element)].dtype;
    if (const auto trips = closed_form(*induction, info(dtype).bits)) return trips;
  }
  if (!loop.shape.is_tuple() && !loop.shape.is_scalar()) return std::nullopt;
  if (loop.shape.is_tuple() && !has_tuple_state(loop)) return std::nullopt;
  return Simulation(loop).run(max_steps);
}

}  // namespace ncc::hlo_passes
