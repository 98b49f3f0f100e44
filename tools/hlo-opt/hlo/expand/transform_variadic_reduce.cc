// Reductions of several arrays at once by reductions of one:
//   separable:  result i of the body needs accumulator i and element i alone -> a reduce of its own
//   arg max/min: (values, numbers of the reduced positions) with a body that keeps the better value, the
//   earlier one
//               of equals and NaN before everything
//                 m = reduce(values, max); i = reduce(select(values = m, number, last), min)
//                 value = reduce(select(number = i, values, -inf), max)
// Whether a body is an arg max is decided by running it: a body of comparisons, selections and logic on its
// parameters depends on their order alone, so a few values in every order decide it for all. Source:
// spec/hlo-front-half.md §4.3 (ties: the first index).
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::CompareDirection;
using Scalars = std::vector<double>;

bool is_ordinary(const Instruction& inst) {
  return inst.is(Opcode::Reduce) && inst.shape.is_tuple() && inst.shape.elements.size() > 1 &&
         !inst.shape.is_dynamic();
}

// --- separable bodies ---

// Parameters that a value of the body depends on.
std::unordered_set<int64_t> parameters_of(const Instruction* value) {
  std::unordered_set<int64_t> numbers;
  std::unordered_set<const Instruction*> seen;
  std::vector<const Instruction*> work{value};
  while (!work.empty()) {
    const Instruction* inst = work.back();
    work.pop_back();
    if (!seen.insert(inst).second) continue;
    if (inst->is(Opcode::Parameter)) numbers.insert(inst->index);
    work.insert(work.end(), inst->operands.begin(), inst->operands.end());
  }
  return numbers;
}

bool is_separable(const Computation& body, int64_t count) {
  const Instruction* root = body.root();
  if (!root->is(Opcode::Tuple) || root->num_operands() != count) return false;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t parameter : parameters_of(root->operand(i))) {
      if (parameter != i && parameter != count + i) return false;
    }
  }
  for (const auto& inst : body.instructions()) {
    if (inst->has_side_effect() && !inst->is(Opcode::Parameter)) return false;
  }
  return true;
}

// (accumulator i, element i) -> result i.
Computation* part_of_body(hlo::Module& module, const Computation& body, int64_t count, int64_t i) {
  const auto parameters = body.parameters();
  Computation* part = module.add_computation(body.name() + ".part");
  std::vector<Instruction*> arguments(static_cast<size_t>(2 * count));
  arguments[static_cast<size_t>(i)] = part->add_parameter(0, parameters[static_cast<size_t>(i)]->shape);
  arguments[static_cast<size_t>(count + i)] =
      part->add_parameter(1, parameters[static_cast<size_t>(count + i)]->shape);
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const Instruction* inst : body.post_order()) {
    if (inst->is(Opcode::Parameter)) {
      copies[inst] = arguments[static_cast<size_t>(inst->index)];
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands) operands.push_back(copies[operand]);
    const bool needed = std::find(operands.begin(), operands.end(), nullptr) == operands.end();
    copies[inst] = needed ? part->add_clone(*inst, std::move(operands)) : nullptr;
  }
  part->set_root(copies[body.root()->operand(i)]);
  part->remove_dead();
  return part;
}

void separate(hlo::Module& module, ComputationEditor& edit, Instruction* inst) {
  const auto count = static_cast<int64_t>(inst->shape.elements.size());
  std::vector<Instruction*> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(edit.reduce(std::vector<Instruction*>{inst->operand(i)}, {inst->operand(count + i)},
                                  inst->dimensions, part_of_body(module, *inst->body(), count, i)));
  edit.replace(inst, edit.tuple(std::move(results)));
}

// --- arg max and arg min ---

bool compares(CompareDirection direction, double a, double b) {
  switch (direction) {
    case CompareDirection::EQ:
      return a == b;
    case CompareDirection::NE:
      return a != b;
    case CompareDirection::GE:
      return a >= b;
    case CompareDirection::GT:
      return a > b;
    case CompareDirection::LE:
      return a <= b;
    default:
      return a < b;
  }
}

// The body on scalars that doubles hold exactly; nothing when it holds an op that is not about order.
// Predicates are 0 and 1.
std::optional<Scalars> run_order_body(const Computation& body, const Scalars& arguments) {
  std::unordered_map<const Instruction*, double> values;
  for (const Instruction* inst : body.post_order()) {
    const auto in = [&](int64_t i) { return values.at(inst->operand(i)); };
    const bool pred = inst->shape.is_array() && inst->shape.dtype == Dtype::Pred;
    if (inst == body.root()) continue;
    if (!inst->shape.is_scalar()) return std::nullopt;
    if (inst->is(Opcode::Parameter)) {
      values[inst] = arguments[static_cast<size_t>(inst->index)];
    } else if (inst->is(Opcode::Compare) && inst->compare_type != hlo::CompareType::TotalOrder) {
      values[inst] = compares(inst->direction, in(0), in(1));
    } else if (inst->is(Opcode::Select)) {
      values[inst] = in(0) != 0 ? in(1) : in(2);
    } else if (inst->is(Opcode::And) && pred) {
      values[inst] = in(0) != 0 && in(1) != 0;
    } else if (inst->is(Opcode::Or) && pred) {
      values[inst] = in(0) != 0 || in(1) != 0;
    } else if (inst->is(Opcode::Xor) && pred) {
      values[inst] = (in(0) != 0) != (in(1) != 0);
    } else if (inst->is(Opcode::Not) && pred) {
      values[inst] = in(0) == 0;
    } else if (inst->is(Opcode::Constant) && pred) {
      values[inst] = static_cast<double>(inst->literal.as_int64(0));
    } else if ((inst->is(Opcode::Maximum) || inst->is(Opcode::Minimum)) && is_integer(inst->shape.dtype)) {
      values[inst] = inst->is(Opcode::Maximum) ? std::max(in(0), in(1)) : std::min(in(0), in(1));
    } else if (inst->is(Opcode::Copy)) {
      values[inst] = in(0);
    } else {
      return std::nullopt;
    }
  }
  const Instruction* root = body.root();
  if (!root->is(Opcode::Tuple) || root->num_operands() != 2) return std::nullopt;
  return Scalars{values.at(root->operand(0)), values.at(root->operand(1))};
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Every pair of values in every order, the accumulated position before the element's, as it is in a fold.
// Of equal values the earlier position counts; the value is the earlier one or, as `takes_later` says, the
// later one: zeros of both signs are equal.
bool is_arg_body(const Computation& body, bool is_max, bool floats, bool takes_later) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Scalars tests{1, 2};
  if (floats) tests = {1, 2, nan, -0.0, 0.0};
  for (double a : tests) {
    for (double b : tests) {
      const auto result = run_order_body(body, {a, 3, b, 5});
      if (!result) return false;
      const bool keeps = std::isnan(a) || (is_max ? a >= b : a <= b);
      const double value = keeps && !(takes_later && a == b) ? a : b;
      if (!same_bits((*result)[0], value) || (*result)[1] != (keeps ? 3 : 5)) return false;
    }
  }
  return true;
}

bool is_positions(const Instruction* value, int64_t dimension) {
  while (value->is(Opcode::Broadcast) || value->is(Opcode::Reshape)) {
    if (value->is(Opcode::Reshape)) return false;
    const auto& to = value->dimensions;
    const auto found = std::find(to.begin(), to.end(), dimension);
    if (found == to.end()) return false;
    dimension = found - to.begin();
    value = value->operand(0);
  }
  return value->is(Opcode::Iota) && value->dimensions[0] == dimension;
}

// The value from which a maximum (minimum) starts without an effect: the lowest (highest) of the type.
bool is_extreme(const Instruction* initial, bool lowest) {
  if (!initial->is(Opcode::Constant) || !initial->shape.is_scalar()) return false;
  const Dtype dtype = initial->shape.dtype;
  if (is_float(dtype)) {
    const double value = initial->literal.as_double(0);
    return std::isinf(value) && (value < 0) == lowest;
  }
  if (!is_integer(dtype)) return false;
  const int bits = info(dtype).bits;
  const int64_t value = initial->literal.as_int64(0);
  if (is_unsigned_int(dtype)) {
    const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return (static_cast<uint64_t>(value) & all) == (lowest ? 0 : all);
  }
  const int64_t highest = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return value == (lowest ? -highest - 1 : highest);
}

struct Arg {
  bool is_max;       // else arg min
  bool takes_later;  // of equal values
};

// Nothing when it is no arg max or arg min.
std::optional<Arg> arg_kind(const Instruction& inst) {
  if (inst.num_operands() != 4 || inst.dimensions.size() != 1) return std::nullopt;
  const Shape& values = inst.operand_shape(0);
  const Shape& numbers = inst.operand_shape(1);
  const int64_t dimension = inst.dimensions[0];
  if (!is_integer(numbers.dtype) || (!is_float(values.dtype) && !is_integer(values.dtype)))
    return std::nullopt;
  if (values.dims[static_cast<size_t>(dimension)] == 0 || !is_positions(inst.operand(1), dimension))
    return std::nullopt;
  // Bodies may be wider than the arrays.
  for (const Instruction* parameter : inst.body()->parameters()) {
    const Dtype wanted = inst.operand_shape(parameter->index % 2).dtype;
    if (!parameter->shape.is_scalar() || parameter->shape.dtype != wanted) return std::nullopt;
  }
  const Instruction* first = inst.operand(3);
  if (!first->is(Opcode::Constant) || first->literal.as_int64(0) != 0) return std::nullopt;
  for (const bool is_max : {true, false})
    for (const bool takes_later : {false, true})
      if (is_extreme(inst.operand(2), is_max) &&
          is_arg_body(*inst.body(), is_max, is_float(values.dtype), takes_later))
        return Arg{is_max, takes_later};
  return std::nullopt;
}

void expand_arg(ComputationEditor& edit, Instruction* inst, const Arg& arg) {
  const Value values(edit, inst->operand(0)), numbers(edit, inst->operand(1));
  const Opcode better = arg.is_max ? Opcode::Maximum : Opcode::Minimum;
  const Dims& dims = values.shape().dims;
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (d != inst->dimensions[0]) kept.push_back(d);
  }
  const auto spread = [&](Instruction* reduced) { return Value(edit, edit.broadcast(reduced, dims, kept)); };
  const Value best = spread(edit.reduce(values.inst(), inst->operand(2), inst->dimensions, better));
  Value wins = equal(values, best);
  if (is_float(values.dtype())) wins = wins | (is_nan(values) & is_nan(best));
  const double last = static_cast<double>(dims[static_cast<size_t>(inst->dimensions[0])] - 1);
  const Value candidates = select(wins, numbers, numbers.like(last));
  Instruction* index =
      edit.reduce(candidates.inst(), edit.scalar(numbers.dtype(), last), inst->dimensions, Opcode::Minimum);
  // The value at that place, or at the last of equals, its sign of zero included.
  Instruction* place = index;
  if (arg.takes_later)
    place = edit.reduce(select(wins, numbers, numbers.like(0)).inst(), edit.scalar(numbers.dtype(), 0),
                        inst->dimensions, Opcode::Maximum);
  Instruction* initial = inst->operand(2);
  const Value others(edit, edit.broadcast_scalar(initial, dims));
  const Value chosen = select(equal(numbers, spread(place)), values, others);
  Instruction* value = edit.reduce(chosen.inst(), initial, inst->dimensions, better);
  edit.replace(inst, edit.tuple({value, index}));
}

}  // namespace

Status transform_variadic_reduce(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (!is_ordinary(*inst) || edit.is_pinned(inst)) return Status::ok();
    const auto count = static_cast<int64_t>(inst->shape.elements.size());
    if (is_separable(*inst->body(), count)) {
      separate(module, edit, inst);
    } else if (const std::optional<Arg> arg = arg_kind(*inst)) {
      expand_arg(edit, inst, *arg);
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
