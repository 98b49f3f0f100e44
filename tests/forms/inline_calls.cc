#include "tests/forms/inline_calls.h"

#include <unordered_map>

namespace ncc::hlo {
namespace {

using Values = std::unordered_map<const Instruction*, Instruction*>;

// Copies `from` into `to`; `values` says what its parameters are. Returns the copy of the root.
Instruction* copy_body(const Computation& from, Computation* to, Values values);

Computation* copy_region(const Computation& region, Module* module) {
  Computation* copy = module->add_computation(region.name());
  Values values;
  for (const Instruction* parameter : region.parameters())
    values[parameter] = copy->add_parameter(parameter->index, parameter->shape, parameter->name);
  copy->set_root(copy_body(region, copy, std::move(values)));
  return copy;
}

Instruction* copy_body(const Computation& from, Computation* to, Values values) {
  for (const Instruction* inst : from.post_order()) {
    if (inst->is(Opcode::Parameter)) continue;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : inst->operands) operands.push_back(values.at(operand));
    Instruction* copy = to->add_clone(*inst, std::move(operands));
    for (Computation*& called : copy->called) called = copy_region(*called, to->module());
    values[inst] = copy;
  }
  return values.at(from.root());
}

}  // namespace

void inline_calls(Module* module) {
  // Callees first: what a call copies has no calls left.
  for (Computation* computation : module->post_order()) {
    std::unordered_map<Instruction*, Instruction*> replaced;
    for (Instruction* inst : computation->post_order()) {
      for (Instruction*& operand : inst->operands) {
        if (const auto found = replaced.find(operand); found != replaced.end()) operand = found->second;
      }
      if (!inst->is(Opcode::Call)) continue;
      Values values;
      for (const Instruction* parameter : inst->body()->parameters())
        values[parameter] = inst->operands[static_cast<size_t>(parameter->index)];
      replaced[inst] = copy_body(*inst->body(), computation, std::move(values));
    }
    if (const auto found = replaced.find(computation->root()); found != replaced.end())
      computation->set_root(found->second);
  }
}

}  // namespace ncc::hlo
