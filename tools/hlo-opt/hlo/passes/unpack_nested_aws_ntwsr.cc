// AwsNeuronTransferWithStaticRing(AwsNeuronTransferWithStaticRing(x)) -> the inner one, when shapes agree.
// Source: spec/hlo-front-half.md §4.22 (34).
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr std::string_view kStaticRing = "AwsNeuronTransferWithStaticRing";

bool is_static_ring(const Instruction* inst) {
  return inst->is(Opcode::CustomCall) && inst->attrs().custom_call_target == kStaticRing &&
         inst->num_operands() == 1 && compatible(inst->shape, inst->operand_shape(0));
}

}  // namespace

Status unpack_nested_aws_ntwsr(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, [](ComputationEditor&, Instruction* inst) {
    return is_static_ring(inst) && is_static_ring(inst->operand(0)) ? inst->operand(0)
                                                                    : static_cast<Instruction*>(nullptr);
  });
}

}  // namespace ncc::hlo_passes
