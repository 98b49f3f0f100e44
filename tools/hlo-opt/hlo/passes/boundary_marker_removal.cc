// Boundary markers that frameworks leave in a program, custom-calls that hand their operands on, go:
//   NeuronBoundaryMarker-{Start,End}, AwsNeuronModuleMarker{Start,End}-{Forward,Backward}
// A marker whose result is not its operand is refused (EVRF003). Source: spec/hlo-front-half.md §4.21 (31).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_boundary_marker(const Instruction& inst) {
  constexpr std::string_view kTargets[] = {
      "NeuronBoundaryMarker-Start",          "NeuronBoundaryMarker-End",
      "AwsNeuronModuleMarkerStart-Forward",  "AwsNeuronModuleMarkerEnd-Forward",
      "AwsNeuronModuleMarkerStart-Backward", "AwsNeuronModuleMarkerEnd-Backward"};
  if (!inst.is(Opcode::CustomCall)) return false;
  for (std::string_view target : kTargets)
    if (inst.attrs().custom_call_target == target) return true;
  return false;
}

}  // namespace

Status boundary_marker_removal(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!is_boundary_marker(*inst) || edit.has_control_edge(inst)) return Status::ok();
    Instruction* value = inst->operands.empty() ? nullptr : inst->operand(0);
    // Several operands come back as a tuple.
    if (inst->shape.is_tuple() && value && !compatible(value->shape, inst->shape))
      value = edit.tuple(inst->operands);
    if (!value || !compatible(value->shape, inst->shape))
      return error(Code::EVRF003, inst->loc,
                   fmt::format("{}: a boundary marker returns its operand", describe(*inst)));
    edit.replace(inst, value);
    edit.erase(inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
