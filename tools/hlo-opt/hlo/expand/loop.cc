#include "tools/hlo-opt/hlo/expand/loop.h"

namespace ncc::hlo_passes {
namespace {

// The loop state is (step, values...).
Computation* loop_body(hlo::Module& module, const Shape& state, const LoopStep& step) {
  Computation* body = module.add_computation("step");
  Instruction* parameter = body->add_parameter(0, state);
  ComputationEditor edit(body);
  Instruction* number = edit.element(parameter, 0);
  std::vector<Instruction*> values;
  for (size_t i = 1; i < state.elements.size(); ++i)
    values.push_back(edit.element(parameter, static_cast<int64_t>(i)));
  std::vector<Instruction*> next = step(edit, number, values);
  next.insert(next.begin(), edit.apply(Opcode::Add, {number, edit.scalar(Dtype::S32, 1)}));
  edit.set_root(edit.tuple(std::move(next)));
  NCC_CHECK(edit.finish().is_ok(), "a loop body has a cycle");
  return body;
}

Computation* loop_condition(hlo::Module& module, const Shape& state, int64_t count) {
  Computation* condition = module.add_computation("goes_on");
  Instruction* parameter = condition->add_parameter(0, state);
  ComputationEditor edit(condition);
  edit.set_root(edit.compare(hlo::CompareDirection::LT, edit.element(parameter, 0),
                             edit.scalar(Dtype::S32, static_cast<double>(count))));
  NCC_CHECK(edit.finish().is_ok(), "a loop condition has a cycle");
  return condition;
}

}  // namespace

std::vector<Instruction*> counted_loop(ComputationEditor& edit, int64_t count,
                                       std::vector<Instruction*> values, const LoopStep& step) {
  if (count <= kUnrolledSteps) {
    for (int64_t i = 0; i < count; ++i)
      values = step(edit, edit.scalar(Dtype::S32, static_cast<double>(i)), values);
    return values;
  }
  const size_t size = values.size();
  values.insert(values.begin(), edit.scalar(Dtype::S32, 0));
  Instruction* state = edit.tuple(std::move(values));
  hlo::Module& module = *edit.computation()->module();
  Computation* body = loop_body(module, state->shape, step);
  Computation* condition = loop_condition(module, state->shape, count);
  Instruction* loop = edit.add(Opcode::While, state->shape, {state});
  loop->called = {body, condition};
  std::vector<Instruction*> results;
  for (size_t i = 1; i <= size; ++i) results.push_back(edit.element(loop, static_cast<int64_t>(i)));
  return results;
}

}  // namespace ncc::hlo_passes
