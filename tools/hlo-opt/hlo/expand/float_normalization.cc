// Arithmetic on floats of fewer than 32 bits in f32, for targets that only move and convert the narrow types:
//   op(a, b)         -> convert(op(convert(a), convert(b)))      elementwise arithmetic, dot, convolution
//   reduce(a, init)  -> convert(reduce(convert(a), convert(init)))  with the same body in f32
// Elementwise results are rounded once, as they were; sums keep more places than they did. Data movement,
// selection, comparison and conversion stay in the narrow type. Source: spec/hlo-front-half.md §4.14.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_narrow(const Shape& shape) {
  return shape.is_array() && is_float(shape.dtype) && info(shape.dtype).bits < 32;
}

// Elementwise ops whose result does not depend on how its operands are held.
bool is_movement(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Convert:
    case Opcode::Copy:
    case Opcode::Select:
    case Opcode::Compare:
    case Opcode::Map:
    case Opcode::NextAfter:
    case Opcode::ReducePrecision:
    case Opcode::StochasticConvert:
    case Opcode::Abs:
    case Opcode::Negate:
    case Opcode::IsFinite:
      return true;
    default:
      return false;
  }
}

bool is_arithmetic(const Instruction& inst) {
  if (!is_plain_array(&inst) || !is_narrow(inst.shape)) return false;
  // A stated algorithm names the types that it works on.
  if (inst.is(Opcode::Dot) || inst.is(Opcode::Convolution)) return inst.attrs().algorithm.empty();
  const auto is_same = [&](const Instruction* operand) { return operand->shape.dtype == inst.shape.dtype; };
  return inst.info().elementwise && !is_movement(inst) && !inst.operands.empty() &&
         std::all_of(inst.operands.begin(), inst.operands.end(), is_same);
}

bool is_reduction(const Instruction& inst) {
  return (inst.is(Opcode::Reduce) || inst.is(Opcode::ReduceWindow)) && inst.num_operands() == 2 &&
         is_plain_array(&inst) && is_narrow(inst.shape) && is_narrow(inst.operand_shape(0)) &&
         is_narrow(inst.body()->root()->shape) && binary_body(*inst.body());
}

Instruction* normalise(ComputationEditor& edit, Instruction* inst) {
  const bool reduces = is_reduction(*inst);
  if (!reduces && !is_arithmetic(*inst)) return nullptr;
  std::vector<Instruction*> operands;
  for (Instruction* operand : inst->operands)
    operands.push_back(is_narrow(operand->shape) ? edit.convert(operand, Dtype::F32) : operand);
  Instruction* wide = edit.clone(inst, std::move(operands));
  wide->shape = Shape::array(Dtype::F32, inst->shape.dims);
  if (reduces) wide->called = {scalar_body(*inst->parent->module(), *binary_body(*inst->body()), Dtype::F32)};
  return edit.convert(wide, inst->shape.dtype);
}

}  // namespace

Status float_normalization(hlo::Module& module, PassContext& context) {
  // Bodies of reductions and the like are scalar functions of their own types: they stay.
  std::vector<Computation*> bodies;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions())
      if (!inst->is(Opcode::Call) && !inst->is(Opcode::While) && !inst->is(Opcode::Conditional) &&
          !inst->is(Opcode::Fusion))
        bodies.insert(bodies.end(), inst->called.begin(), inst->called.end());
  for (Computation* computation : module.post_order()) {
    if (std::find(bodies.begin(), bodies.end(), computation) != bodies.end()) continue;
    ComputationEditor edit(computation);
    NCC_TRY(edit.visit_all([&](Instruction* inst) {
      if (edit.has_control_edge(inst)) return Status::ok();
      if (Instruction* value = normalise(edit, inst)) edit.replace(inst, value);
      return Status::ok();
    }));
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
