// Markers that frameworks leave in a program, as custom-calls of one operand that hand it on:
//   boundary-marker-removal  NeuronBoundaryMarker-{Start,End},
//   AwsNeuronModuleMarker{Start,End}-{Forward,Backward} unpack-nested-aws-ntwsr
//   AwsNeuronTransferWithStaticRing of AwsNeuronTransferWithStaticRing -> the inner one
// Source: spec/hlo-front-half.md §4.21, §4.22 (31, 34).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr std::string_view kStaticRing = "AwsNeuronTransferWithStaticRing";

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

bool is_static_ring(const Instruction* inst) {
  return inst->is(Opcode::CustomCall) && inst->attrs().custom_call_target == kStaticRing &&
         inst->num_operands() == 1 && compatible(inst->shape, inst->operand_shape(0));
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

Status unpack_nested_ntwsr(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor&, Instruction* inst) {
    return is_static_ring(inst) && is_static_ring(inst->operand(0)) ? inst->operand(0)
                                                                    : static_cast<Instruction*>(nullptr);
  });
}

}  // namespace ncc::hlo_passes
