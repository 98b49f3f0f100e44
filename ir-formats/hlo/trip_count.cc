// The counter of a loop: `i` in state, `i < limit` as condition, `i + step` in the body, all constants.
#include "ir-formats/hlo/stats.h"

namespace ncc::hlo {
namespace {

bool constant_int(const Instruction* inst, int64_t* value) {
  if (!inst->is(Opcode::Constant) || inst->literal.is_tuple() || inst->literal.num_elements() != 1 ||
      !is_integer(inst->shape.dtype))
    return false;
  *value = inst->literal.as_int64(0);
  return true;
}

// The state element that the value is, -1 when it is none.
int64_t state_element(const Instruction* inst) {
  const bool is_state = inst->is(Opcode::GetTupleElement) && inst->operand(0)->is(Opcode::Parameter);
  return is_state ? inst->index : -1;
}

struct Counter {
  int64_t element = -1, limit = 0;
  CompareDirection direction = CompareDirection::LT;
};

bool read_condition(const Instruction& root, Counter* counter) {
  if (!root.is(Opcode::Compare)) return false;
  counter->direction = root.direction;
  counter->element = state_element(root.operand(0));
  return counter->element >= 0 && constant_int(root.operand(1), &counter->limit);
}

bool read_step(const Instruction& root, int64_t element, int64_t* step) {
  if (!root.is(Opcode::Tuple) || element >= root.num_operands()) return false;
  const Instruction* next = root.operand(element);
  const bool add = next->is(Opcode::Add), subtract = next->is(Opcode::Subtract);
  if (!add && !subtract) return false;
  if (state_element(next->operand(0)) == element && constant_int(next->operand(1), step)) {
    if (subtract) *step = -*step;
    return true;
  }
  return add && state_element(next->operand(1)) == element && constant_int(next->operand(0), step);
}

}  // namespace

int64_t constant_trip_count(const Instruction& loop) {
  Counter counter;
  int64_t start = 0, step = 0;
  const Instruction* state = loop.operand(0);
  if (!read_condition(*loop.while_condition()->root(), &counter) || !state->is(Opcode::Tuple) ||
      counter.element >= state->num_operands() || !constant_int(state->operand(counter.element), &start) ||
      !read_step(*loop.while_body()->root(), counter.element, &step))
    return -1;
  // Distances are taken wide: start and limit may lie at both ends of 64 bits.
  const bool up = counter.direction == CompareDirection::LT || counter.direction == CompareDirection::LE;
  const bool down = counter.direction == CompareDirection::GT || counter.direction == CompareDirection::GE;
  const bool inclusive =
      counter.direction == CompareDirection::LE || counter.direction == CompareDirection::GE;
  if ((!up || step <= 0) && (!down || step >= 0)) return -1;
  __int128 distance =
      up ? static_cast<__int128>(counter.limit) - start : static_cast<__int128>(start) - counter.limit;
  if (inclusive) ++distance;
  if (distance <= 0) return 0;
  const __int128 stride = up ? step : -static_cast<__int128>(step);
  const __int128 trips = (distance + stride - 1) / stride;
  return trips > (int64_t{1} << 62) ? -1 : static_cast<int64_t>(trips);
}

}  // namespace ncc::hlo
