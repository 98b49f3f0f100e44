#include "tools/hlo-opt/hlo/expand/custom_call_match.h"

#include <charconv>

namespace ncc::hlo_passes {

bool calls(const Instruction& inst, std::string_view target) {
  return inst.is(Opcode::CustomCall) && inst.attrs().custom_call_target == target && !inst.has_side_effect();
}

std::optional<int64_t> config_number(const Instruction& inst, int64_t limit) {
  const std::string& text = inst.attrs().backend_config;
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 0 || value >= limit)
    return std::nullopt;
  return value;
}

std::optional<int64_t> config_axis(const Instruction& inst) {
  const std::string& text = inst.attrs().backend_config;
  const int64_t rank = inst.operand_shape(0).rank();
  int64_t axis = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), axis);
  if (!text.empty() && (failed != std::errc() || end != text.data() + text.size())) return std::nullopt;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return axis;
}

Value folded_along(Value x, int64_t axis, Opcode op, double initial) {
  ComputationEditor& edit = x.edit();
  Instruction* sum = edit.reduce(x.inst(), edit.scalar(x.dtype(), initial), {axis}, op);
  Dims kept;
  for (int64_t d = 0; d < x.shape().rank(); ++d)
    if (d != axis) kept.push_back(d);
  return {edit, edit.broadcast(sum, x.shape().dims, std::move(kept))};
}

}  // namespace ncc::hlo_passes
