// scan -> a counted loop (loop.h): each step takes the slices of the inputs at its index, runs the body on
// them and the carries, and writes the slices of the outputs. Source: spec/stablehlo-text.md §2.9.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/expand/loop.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// How the operands and results of a scan are divided.
struct Plan {
  size_t inputs = 0, outputs = 0, carries = 0;
  size_t dimension = 0;
  int64_t steps = 0;
  bool is_reverse = false;
};

std::optional<Plan> plan_of(const Instruction& inst) {
  if (!inst.is(Opcode::Scan) || inst.shape.is_dynamic()) return std::nullopt;
  const auto parameters = inst.body()->parameters();
  Plan plan;
  // Inputs have one dimension more than the body's parameter, carries have the same.
  while (plan.inputs < inst.operands.size() &&
         inst.operands[plan.inputs]->shape.rank() > parameters[plan.inputs]->shape.rank())
    ++plan.inputs;
  plan.carries = inst.operands.size() - plan.inputs;
  const size_t results = inst.shape.is_tuple() ? inst.shape.elements.size() : 1;
  if (plan.inputs == 0 || results < plan.carries) return std::nullopt;
  plan.outputs = results - plan.carries;
  plan.dimension = static_cast<size_t>(inst.dimensions.empty() ? 0 : inst.dimensions[0]);
  plan.steps = inst.operand_shape(0).dims[plan.dimension];
  plan.is_reverse = inst.attrs().is_reverse;
  return plan;
}

std::vector<Instruction*> start(ComputationEditor& edit, const Plan& plan, Instruction* at, int64_t rank) {
  std::vector<Instruction*> starts;
  for (int64_t d = 0; d < rank; ++d)
    starts.push_back(d == static_cast<int64_t>(plan.dimension) ? at : edit.scalar(Dtype::S32, 0));
  return starts;
}

Instruction* slice_at(ComputationEditor& edit, const Plan& plan, Instruction* array, Instruction* at) {
  Dims sizes = array->shape.dims, kept = sizes;
  sizes[plan.dimension] = 1;
  kept.erase(kept.begin() + static_cast<int64_t>(plan.dimension));
  Instruction* slice = edit.dynamic_slice(array, start(edit, plan, at, array->shape.rank()), sizes);
  return edit.reshape(slice, kept);
}

Instruction* with_slice(ComputationEditor& edit, const Plan& plan, Instruction* array, Instruction* slice,
                        Instruction* at) {
  Dims sizes = array->shape.dims;
  sizes[plan.dimension] = 1;
  return edit.dynamic_update_slice(array, edit.reshape(slice, sizes),
                                   start(edit, plan, at, array->shape.rank()));
}

// Values: inputs, outputs, carries.
std::vector<Instruction*> run_step(ComputationEditor& edit, const Plan& plan, const Computation& body,
                                   Instruction* step, const std::vector<Instruction*>& values) {
  Instruction* at = step;
  if (plan.is_reverse) at = (static_cast<double>(plan.steps - 1) - Value(edit, step)).inst();
  std::vector<Instruction*> arguments;
  for (size_t i = 0; i < plan.inputs; ++i) arguments.push_back(slice_at(edit, plan, values[i], at));
  const size_t first_carry = plan.inputs + plan.outputs;
  arguments.insert(arguments.end(), values.begin() + static_cast<int64_t>(first_carry), values.end());
  Instruction* result = edit.inline_computation(body, arguments);
  const auto part = [&](size_t i) {
    return result->shape.is_tuple() ? edit.element(result, static_cast<int64_t>(i)) : result;
  };
  std::vector<Instruction*> next = values;
  for (size_t o = 0; o < plan.outputs; ++o)
    next[plan.inputs + o] = with_slice(edit, plan, values[plan.inputs + o], part(o), at);
  for (size_t c = 0; c < plan.carries; ++c) next[first_carry + c] = part(plan.outputs + c);
  return next;
}

}  // namespace

Status scan_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    const auto plan = plan_of(*inst);
    if (!plan || edit.is_pinned(inst)) return Status::ok();
    std::vector<Shape> results{inst->shape};
    if (inst->shape.is_tuple()) results = inst->shape.elements;
    std::vector<Instruction*> values(inst->operands.begin(),
                                     inst->operands.begin() + static_cast<int64_t>(plan->inputs));
    for (size_t o = 0; o < plan->outputs; ++o) values.push_back(edit.splat(results[o], 0));
    values.insert(values.end(), inst->operands.begin() + static_cast<int64_t>(plan->inputs),
                  inst->operands.end());
    const Computation* body = inst->body();
    values =
        counted_loop(edit, plan->steps, std::move(values),
                     [&](ComputationEditor& inner, Instruction* step, const std::vector<Instruction*>& v) {
                       return run_step(inner, *plan, *body, step, v);
                     });
    values.erase(values.begin(), values.begin() + static_cast<int64_t>(plan->inputs));
    edit.replace(inst, inst->shape.is_tuple() ? edit.tuple(std::move(values)) : values[0]);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
