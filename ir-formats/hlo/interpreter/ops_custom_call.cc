// Custom calls that have a meaning of their own on one device. Source: spec/stablehlo-text.md §2.12.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

// Targets that only annotate their first operand.
constexpr std::string_view kIdentity[] = {
    "Sharding",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.ShardingGroup",
    "LayoutConstraint",
    "annotate_device_placement",
    "stablehlo.shape_refinement_operand_wrapper",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
};

std::string raw_text(const Instruction& inst, std::string_view key) {
  return std::string(inst.attrs().find(key).value_or(""));
}

// Keeps the value for a later check.
Result<Literal> probe(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  evaluator.probes()[raw_text(inst, "probe_id")].push_back(operands[0]);
  return operands[0];
}

// The value must have the bits that the probe has seen in that iteration.
Result<Literal> compare_with_probe(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const std::string id = raw_text(inst, "probe_id");
  const size_t iteration = std::strtoull(raw_text(inst, "iter").c_str(), nullptr, 10);
  const auto seen = evaluator.probes().find(id);
  if (seen == evaluator.probes().end() || iteration >= seen->second.size())
    return error(Code::ERUN003, inst.loc, fmt::format("probe '{}' has seen no value {}", id, iteration));
  if (!(seen->second[iteration] == operands[0]))
    return error(Code::ERUN003, inst.loc, fmt::format("probe '{}' has seen another value {}", id, iteration));
  return Literal::make_tuple({});
}

}  // namespace

Result<Literal> eval_custom_call(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const std::string& target = inst.attrs().custom_call_target;
  if (target == "interpreter.run_parallel") return run_parallel(inst, operands);
  if (target == "interpreter.probe") return probe(evaluator, inst, operands);
  if (target == "check.expect_serialized_eq") return compare_with_probe(evaluator, inst, operands);
  if (std::find(std::begin(kIdentity), std::end(kIdentity), target) != std::end(kIdentity)) {
    if (inst.shape.is_tuple() && inst.shape.elements.empty()) return Literal::make_tuple({});
    if (!operands.empty()) return std::move(operands[0]);
  }
  if (target == "AllocateBuffer") return Literal::zeros(inst.shape);
  // Checks compare on the host; here they have no result of their own.
  if (target.rfind("check.", 0) == 0)
    return inst.shape.is_tuple() ? Literal::make_tuple({}) : Literal::scalar_int(inst.shape.dtype, 1);
  if (target == "shape_assertion") {
    if (operands[0].as_int64(0) == 0)
      return error(Code::ERUN003, inst.loc,
                   fmt::format("shape assertion failed: {}",
                               inst.attrs().find("error_message").value_or("no message")));
    return Literal::make_tuple({});
  }
  return error(Code::EVRF001, inst.loc, "custom-call " + target,
               std::string("the interpreter does not implement it"));
}

}  // namespace ncc::hlo
