#include "tools/hlo-opt/hlo/evaluate.h"

#include <algorithm>

#include "ir-formats/hlo/interpreter/interpret.h"

namespace ncc::hlo_passes {
namespace {

int64_t elements(const Shape& shape) {
  if (!shape.is_tuple()) return shape.is_array() ? shape.num_elements() : 0;
  int64_t sum = 0;
  for (const Shape& element : shape.elements) sum += elements(element);
  return sum;
}

// Products saturate: sizes come from the model.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

std::optional<Literal> evaluate(const Instruction& inst, std::vector<Literal> operands) {
  hlo::Module module("fold");
  Computation* entry = module.add_computation("main");
  std::vector<Instruction*> parameters;
  for (size_t i = 0; i < operands.size(); ++i)
    parameters.push_back(
        entry->add_parameter(static_cast<int64_t>(i), inst.operand_shape(static_cast<int64_t>(i))));
  // Called computations stay where they are: the interpreter only follows the pointers.
  entry->set_root(entry->add_clone(inst, parameters));
  module.set_entry(entry);
  Result<Literal> result = hlo::interpret(*entry, std::move(operands));
  if (!result.is_ok()) return std::nullopt;
  return result.take();
}

int64_t work_of(const Instruction& inst) {
  int64_t work = elements(inst.shape);
  for (const Instruction* operand : inst.operands) work += elements(operand->shape);
  switch (inst.info().kind) {
    case hlo::OpKind::Contract:
    case hlo::OpKind::Linalg:
      return times(times(elements(inst.shape), elements(inst.operand_shape(0))),
                   elements(inst.operand_shape(inst.num_operands() - 1)));
    case hlo::OpKind::Window: {
      int64_t taps = 1;
      for (const hlo::WindowDim& dim : inst.attrs().window) taps = times(taps, dim.size);
      return times(work, taps);
    }
    case hlo::OpKind::Control:
    case hlo::OpKind::Collective:
    case hlo::OpKind::Async:
    case hlo::OpKind::Token:
    case hlo::OpKind::Tuple:
    case hlo::OpKind::Rng:
      return INT64_MAX;
    default:
      break;
  }
  if (inst.is(Opcode::Sort)) return times(work, 32);
  for (const Computation* body : inst.called) work = times(work, std::max<int64_t>(1, body->size()));
  return work;
}

}  // namespace ncc::hlo_passes
