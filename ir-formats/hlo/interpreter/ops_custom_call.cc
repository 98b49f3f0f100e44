// Custom calls: the way from a target to its function, and the calls that only hand a value on. Source:
// spec/stablehlo-text.md §2.12.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

struct Target {
  std::string_view name;
  EvalFunction function;
};
constexpr Target kTargets[] = {
#define CUSTOM_CALL(target, function) {target, function},
#define REFUSED_CALL(start, reason)
#include "ir-formats/hlo/interpreter/custom_calls.def"
};

struct Refusal {
  std::string_view start, reason;
};
constexpr Refusal kRefusals[] = {
#define CUSTOM_CALL(target, function)
#define REFUSED_CALL(start, reason) {start, reason},
#include "ir-formats/hlo/interpreter/custom_calls.def"
};

std::string raw_text(const Instruction& inst, std::string_view key) {
  return std::string(inst.attrs().find(key).value_or(""));
}

EvalFunction custom_call_function(std::string_view target) {
  for (const Target& row : kTargets)
    if (row.name == target) return row.function;
  return solver_function(target);
}

/// Why a target cannot be run; empty when nothing is known of it.
std::string_view reason_against(std::string_view target) {
  for (const Refusal& row : kRefusals)
    if (target.starts_with(row.start)) return row.reason;
  return "";
}

/// The one value of a shape without data: tokens and tuples of them; nothing for others.
std::optional<Literal> value_without_data(const Shape& shape) {
  if (shape.is_token()) return Literal::zeros(shape);
  if (!shape.is_tuple()) return std::nullopt;
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) {
    std::optional<Literal> value = value_without_data(element);
    if (!value) return std::nullopt;
    elements.push_back(std::move(*value));
  }
  return Literal::make_tuple(std::move(elements));
}

}  // namespace

namespace {

bool same_sizes(const Literal& value, const Shape& stated) {
  if (value.is_tuple() || !stated.is_array() || stated.is_dynamic()) return true;
  return value.shape().dims == stated.dims;
}

}  // namespace

// Several operands come back as a tuple. None of these calls changes a size.
Result<Literal> call_identity(Evaluator&, const Instruction& inst, Operands& operands) {
  if (inst.shape.is_tuple() && inst.shape.elements.empty()) return Literal::make_tuple({});
  if (operands.empty()) return unsupported(inst, "it has no operand to hand on");
  const bool several = inst.shape.is_tuple() && !operands[0].is_tuple();
  for (size_t i = 0; i < operands.size() && (several || i == 0); ++i) {
    const Shape& stated = !several                         ? inst.shape
                          : i < inst.shape.elements.size() ? inst.shape.elements[i]
                                                           : Shape();
    if (!same_sizes(operands[i], stated))
      return unsupported(inst, "its result has other sizes than its operand");
  }
  if (several) return Literal::make_tuple(std::move(operands));
  return std::move(operands[0]);
}

Result<Literal> call_last_operand(Evaluator&, const Instruction& inst, Operands& operands) {
  if (operands.empty()) return unsupported(inst, "it has no operand to hand on");
  return std::move(operands.back());
}

Result<Literal> call_zeros(Evaluator&, const Instruction& inst, Operands&) {
  return Literal::zeros(inst.shape);
}

Result<Literal> call_shape_assertion(Evaluator&, const Instruction& inst, Operands& operands) {
  for (const Literal& operand : operands)
    if (operand.is_tuple() || operand.num_elements() != 1)
      return unsupported(inst, "its operands are not scalars");
  if (operands.empty()) return unsupported(inst, "it has no condition");
  if (operands[0].as_int64(0) != 0) return Literal::make_tuple({});
  std::string message(inst.attrs().find("error_message").value_or("no message"));
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::string slot = fmt::format("{{{}}}", i - 1);
    for (size_t at = message.find(slot); at != std::string::npos; at = message.find(slot, at))
      message.replace(at, slot.size(), fmt::format("{}", operands[i].as_int64(0)));
  }
  return error(Code::ERUN003, inst.loc, fmt::format("shape assertion failed: {}", message));
}

// Keeps the value for a later check.
Result<Literal> call_probe(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  evaluator.probes()[raw_text(inst, "probe_id")].push_back(operands[0]);
  return operands[0];
}

// The value must have the bits that the probe has seen in that iteration.
Result<Literal> call_compare_with_probe(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const std::string id = raw_text(inst, "probe_id");
  const size_t iteration = std::strtoull(raw_text(inst, "iter").c_str(), nullptr, 10);
  const auto seen = evaluator.probes().find(id);
  if (seen == evaluator.probes().end() || iteration >= seen->second.size())
    return error(Code::ERUN003, inst.loc, fmt::format("probe '{}' has seen no value {}", id, iteration));
  if (!(seen->second[iteration] == operands[0]))
    return error(Code::ERUN003, inst.loc, fmt::format("probe '{}' has seen another value {}", id, iteration));
  return Literal::make_tuple({});
}

Result<Literal> run_parallel(Evaluator&, const Instruction& inst, Operands& operands) {
  return run_parallel(inst, operands);
}

Result<Literal> eval_custom_call(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const std::string& target = inst.attrs().custom_call_target;
  if (const EvalFunction function = custom_call_function(target)) return function(evaluator, inst, operands);
  // Checks compare on the host; here they have no result of their own.
  if (target.rfind("check.", 0) == 0)
    return inst.shape.is_tuple() ? Literal::make_tuple({}) : Literal::scalar_int(inst.shape.dtype, 1);
  const std::string_view reason = reason_against(target);
  if (reason.empty()) return unsupported(inst, "the interpreter does not implement it");
  // What jax.debug.print tells the host, nothing in the program depends on.
  if (std::optional<Literal> value = value_without_data(inst.shape)) return std::move(*value);
  return unsupported(inst, std::string(reason));
}

}  // namespace ncc::hlo
