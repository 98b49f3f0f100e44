#include "ir-formats/hlo/structure.h"

#include <algorithm>
#include <unordered_map>

#include "ir-formats/hlo/carried_shape.h"

namespace ncc::hlo {
namespace {

Status invalid(const Instruction& inst, std::string_view why) {
  return error(Code::EVRF003, inst.loc,
               fmt::format("{} of computation {}: {}", describe(inst), inst.parent->name(), why));
}

Status check_arity(const Instruction& inst) {
  const OpInfo& row = inst.info();
  const int64_t count = inst.num_operands();
  if (count < row.min_operands || (row.max_operands >= 0 && count > row.max_operands)) {
    const std::string expected = row.max_operands == row.min_operands
                                     ? fmt::format("{}", row.min_operands)
                                     : fmt::format("at least {}", row.min_operands);
    return invalid(inst, fmt::format("{} operands, expected {}", count, expected));
  }
  const int64_t calls = static_cast<int64_t>(inst.called.size());
  if (row.called_computations >= 0 && calls != row.called_computations)
    return invalid(inst, fmt::format("{} called computations, expected {}", calls, row.called_computations));
  if (inst.is(Opcode::Conditional) && calls + 1 != count)
    return invalid(inst, fmt::format("{} branches and {} branch operands", calls, count - 1));
  return Status::ok();
}

Status check_constant(const Instruction& inst) {
  if (!inst.literal.is_valid())
    return invalid(inst, "the value was left out of the file; write the model with its large constants");
  if (!compatible(storage_shape(inst.literal.shape()), storage_shape(inst.shape)))
    return invalid(inst, fmt::format("value of shape {} for a result of shape {}",
                                     to_string(inst.literal.shape()), to_string(inst.shape)));
  return Status::ok();
}

Status check_parameters(const Computation& computation) {
  std::vector<bool> seen;
  int64_t count = 0;
  for (const auto& inst : computation.instructions()) count += inst->is(Opcode::Parameter);
  seen.resize(static_cast<size_t>(count));
  for (const auto& inst : computation.instructions()) {
    if (!inst->is(Opcode::Parameter)) continue;
    if (inst->index < 0 || inst->index >= count)
      return invalid(*inst, fmt::format("parameter number {} of {} parameters", inst->index, count));
    if (seen[static_cast<size_t>(inst->index)])
      return invalid(*inst, fmt::format("parameter number {} occurs twice", inst->index));
    seen[static_cast<size_t>(inst->index)] = true;
  }
  return Status::ok();
}

Status check_computation(const Computation& computation) {
  if (!computation.root())
    return error(Code::EVRF003, fmt::format("computation {} has no root", computation.name()));
  NCC_TRY(check_parameters(computation));
  for (const auto& inst : computation.instructions()) {
    NCC_TRY(check_arity(*inst));
    if (inst->is(Opcode::Constant)) NCC_TRY(check_constant(*inst));
    for (const Instruction* operand : inst->operands) {
      if (operand->parent != &computation)
        return invalid(*inst, fmt::format("operand {} belongs to computation {}", operand->name,
                                          operand->parent->name()));
    }
  }
  return Status::ok();
}

// Depth-first colouring with an explicit stack: call chains may be long.
Status check_call_graph(const Module& module) {
  enum Colour { kWhite, kGrey, kBlack };
  std::unordered_map<const Computation*, Colour> colour;
  struct Frame {
    const Computation* computation;
    std::vector<const Computation*> callees;
    size_t next = 0;
  };
  const auto frame = [](const Computation* computation) {
    Frame made{computation, {}};
    for (const auto& inst : computation->instructions())
      made.callees.insert(made.callees.end(), inst->called.begin(), inst->called.end());
    return made;
  };
  for (const auto& start : module.computations()) {
    if (colour[start.get()] != kWhite) continue;
    std::vector<Frame> stack;
    stack.push_back(frame(start.get()));
    colour[start.get()] = kGrey;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.callees.size()) {
        colour[top.computation] = kBlack;
        stack.pop_back();
        continue;
      }
      const Computation* callee = top.callees[top.next++];
      if (colour[callee] == kGrey)
        return error(Code::EVRF003, fmt::format("computation {} calls itself", callee->name()));
      if (colour[callee] == kBlack) continue;
      colour[callee] = kGrey;
      stack.push_back(frame(callee));
    }
  }
  return Status::ok();
}

// A stated comparison type that is the operand type's own is the default one: one spelling for one meaning.
void normalise_compare(Instruction* inst) {
  const Dtype dtype = inst->operand_shape(0).dtype;
  const CompareType own = is_signed_int(dtype)                   ? CompareType::Signed
                          : is_float(dtype) || is_complex(dtype) ? CompareType::Float
                                                                 : CompareType::Unsigned;
  if (inst->compare_type == own) inst->compare_type = CompareType::Default;
}

// A bitcast keeps bytes in memory, so layouts decide what it does; nothing else depends on them. Where one is
// not row-major the bitcast becomes a bitcast between row-major arrays with transposes around it.
void normalise_bitcast(Instruction* inst) {
  const Shape from = inst->operand_shape(0), to = inst->shape;
  if (!from.is_array() || !to.is_array() || (from.has_default_layout() && to.has_default_layout())) return;
  const auto in_memory = [](const Shape& shape, std::vector<int64_t>* major_to_minor) {
    *major_to_minor = shape.full_minor_to_major();
    std::reverse(major_to_minor->begin(), major_to_minor->end());
    std::vector<int64_t> dims;
    for (const int64_t d : *major_to_minor) dims.push_back(shape.dims[static_cast<size_t>(d)]);
    return Shape::array(shape.dtype, dims);
  };
  const auto add = [&](Opcode opcode, const Shape& shape, Instruction* operand) {
    Instruction* made = inst->parent->add(opcode, shape, {operand}, inst->name);
    made->loc = inst->loc;
    return made;
  };
  std::vector<int64_t> source_order, target_order;
  const Shape source = in_memory(from, &source_order), target = in_memory(to, &target_order);
  Instruction* value = inst->operand(0);
  if (!from.has_default_layout()) {
    value = add(Opcode::Transpose, source, value);
    value->dimensions = std::move(source_order);
  }
  if (to.has_default_layout()) {
    inst->operands = {value};
    return;
  }
  inst->opcode = Opcode::Transpose;
  inst->operands = {add(Opcode::Bitcast, target, value)};
  inst->dimensions.assign(target_order.size(), 0);
  for (size_t d = 0; d < target_order.size(); ++d)
    inst->dimensions[static_cast<size_t>(target_order[d])] = static_cast<int64_t>(d);
}

void normalise_bitcasts(Computation* computation) {
  std::vector<Instruction*> bitcasts;
  for (const auto& inst : computation->instructions())
    if (inst->is(Opcode::Bitcast)) bitcasts.push_back(inst.get());
  for (Instruction* inst : bitcasts) normalise_bitcast(inst);
}

// Named attributes have no order of their own.
void sort_named(Attributes* a) {
  std::stable_sort(a->frontend_attributes.begin(), a->frontend_attributes.end());
  std::stable_sort(a->raw.begin(), a->raw.end());
}

// Layouts promised to the caller: shapes must agree with the entry's own, but for layouts.
Status finish_entry_layout(Module* module) {
  const Computation& entry = *module->entry();
  const std::vector<Instruction*> parameters = entry.parameters();
  if (!module->has_entry_layout) {
    module->entry_parameter_shapes.clear();
    for (const Instruction* parameter : parameters)
      module->entry_parameter_shapes.push_back(parameter->shape);
    module->entry_result_shape = entry.root()->shape;
    return Status::ok();
  }
  if (module->entry_parameter_shapes.size() != parameters.size())
    return error(Code::EVRF004, "parameters in the program shape", module->entry_parameter_shapes.size(),
                 parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    copy_quantization(parameters[i]->shape, &module->entry_parameter_shapes[i]);
    if (!compatible(module->entry_parameter_shapes[i], parameters[i]->shape))
      return error(Code::EVRF004, parameters[i]->loc, fmt::format("program shape of parameter {}", i),
                   to_string(module->entry_parameter_shapes[i]), to_string(parameters[i]->shape));
  }
  copy_quantization(entry.root()->shape, &module->entry_result_shape);
  if (!compatible(module->entry_result_shape, entry.root()->shape))
    return error(Code::EVRF004, "program shape of the result", to_string(module->entry_result_shape),
                 to_string(entry.root()->shape));
  return Status::ok();
}

}  // namespace

Status check_structure(const Module& module) {
  if (!module.entry()) return error(Code::EVRF003, "there is no entry computation");
  for (const auto& computation : module.computations()) NCC_TRY(check_computation(*computation));
  return check_call_graph(module);
}

Status finish_module(Module* module) {
  NCC_TRY(check_structure(*module));
  for (const auto& computation : module->computations()) {
    normalise_bitcasts(computation.get());
    NCC_TRY(computation->sort());
    for (const auto& inst : computation->instructions()) {
      if (inst->is(Opcode::Compare)) normalise_compare(inst.get());
      if (inst->has_attrs()) sort_named(&inst->mutable_attrs());
    }
  }
  return finish_entry_layout(module);
}

}  // namespace ncc::hlo
