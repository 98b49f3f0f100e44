// A conversion stands on the side of an all-gather on which it makes the gathered data narrower:
//   convert(all-gather(x)) -> all-gather(convert(x))   to a narrower type, the gather's only use
//   all-gather(convert(x)) -> convert(all-gather(x))   from a narrower type
// Source: spec/hlo-front-half.md §4.19 (96).
#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

int bits_of(const Instruction* value) { return info(value->shape.dtype).bits; }

void flip(ComputationEditor& edit, Instruction* inst) {
  if (inst->is(Opcode::Convert)) {
    Instruction* gather = inst->operand(0);
    if (!is_simple_collective(edit, gather, Opcode::AllGather) || !edit.has_one_use(gather) ||
        !is_plain_array(inst) || bits_of(inst) >= bits_of(gather) || edit.has_control_edge(inst))
      return;
    Instruction* narrow = edit.convert(gather->operand(0), inst->shape.dtype);
    Instruction* collectives[] = {gather};
    replace_user(edit, inst, collective_on(edit, gather, narrow, inst->shape), collectives);
    return;
  }
  if (!is_simple_collective(edit, inst, Opcode::AllGather) || !inst->operand(0)->is(Opcode::Convert)) return;
  Instruction* convert = inst->operand(0);
  Instruction* x = convert->operand(0);
  if (!is_plain_array(x) || bits_of(x) >= bits_of(convert)) return;
  Instruction* gathered = collective_on(edit, inst, x, Shape::array(x->shape.dtype, inst->shape.dims));
  replace_user(edit, inst, edit.convert(gathered, inst->shape.dtype), {});
}

}  // namespace

Status flip_all_gather_convert(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    flip(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
