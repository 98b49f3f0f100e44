#include "tools/hlo2penguin/lower.h"

#include "ir-formats/penguin/edit.h"
#include "tools/hlo2penguin/device_types.h"

namespace ncc::hlo2penguin {

using penguin::Role;
using penguin::TensorId;

namespace {

constexpr int kMaxCallDepth = 200;

void flatten(const Value& value, std::vector<const View*>& leaves) {
  if (value.view) leaves.push_back(&*value.view);
  for (const Value& element : value.elements) flatten(element, leaves);
}

}  // namespace

bool has_machine_form(Dtype dtype) {
  return !info(dtype).machine.empty() && dtype != Dtype::S64 && dtype != Dtype::U64;
}

bool has_lowering(hlo::Opcode opcode) {
  switch (opcode) {
#define LOWERING(op, handler, function) \
  case hlo::Opcode::op:                 \
    return true;
#include "tools/hlo2penguin/lowering.def"
    default:
      return false;
  }
}

Status unsupported(const hlo::Instruction& inst, const std::string& reason) {
  return error(Code::EVRF001, inst.loc, hlo::name(inst.opcode), reason);
}

Result<Value> Lowering::lower(const Instruction& inst) {
  switch (inst.opcode) {
#define LOWERING(op, handler, function) \
  case hlo::Opcode::op:                 \
    return lower_##handler(inst);
#include "tools/hlo2penguin/lowering.def"
    default:
      return unsupported(inst, "no lowering");
  }
}

Status Lowering::check_types(const Instruction& inst, const hlo::Shape& shape) const {
  for (const hlo::Shape& element : shape.elements) NCC_TRY(check_types(inst, element));
  if (!shape.is_array())
    return shape.is_tuple() ? Status::ok()
                            : unsupported(inst, "tokens and opaque values have no place on the device");
  if (shape.is_dynamic()) return unsupported(inst, "dynamic shapes");
  if (!has_machine_form(shape.dtype))
    return error(Code::EVRF002, inst.loc, info(shape.dtype).hlo, hlo::describe(inst));
  return Status::ok();
}

const Value& Lowering::operand(const Instruction& inst, int64_t i) const {
  return frame_->values.at(inst.operand(i));
}

std::vector<View> Lowering::views(const Instruction& inst) const {
  std::vector<View> all;
  for (int64_t i = 0; i < inst.num_operands(); ++i) all.push_back(view(inst, i));
  return all;
}

Emission Lowering::emission(const Instruction& inst) const {
  Emission out;
  out.name = inst.name;
  out.loc = inst.loc;
  return out;
}

Result<Value> Lowering::lower_computation(const hlo::Computation& computation, const Arguments& arguments) {
  Frame frame{computation, arguments, {}};
  Frame* const caller = frame_;
  frame_ = &frame;
  if (++call_depth_ > kMaxCallDepth)
    return error(Code::EVRF003, fmt::format("calls are nested more than {} deep", kMaxCallDepth));
  // Only what the root needs.
  std::vector<const Instruction*> stack{computation.root()};
  std::unordered_set<const Instruction*> needed;
  while (!stack.empty()) {
    const Instruction* inst = stack.back();
    stack.pop_back();
    if (!needed.insert(inst).second) continue;
    stack.insert(stack.end(), inst->operands.begin(), inst->operands.end());
  }
  Status status;
  for (const Instruction* inst : computation.post_order()) {
    if (needed.count(inst) == 0) continue;
    status = check_types(*inst, inst->shape);
    if (!status.is_ok()) break;
    Result<Value> value = lower(*inst);
    status = value.status();
    if (!value.is_ok()) break;
    frame.values.emplace(inst, value.take());
  }
  frame_ = caller;
  --call_depth_;
  if (!status.is_ok()) return status;
  return std::move(frame.values.at(computation.root()));
}

Value Lowering::add_input(const hlo::Shape& shape, const std::string& name, const SourceLoc& loc) {
  if (shape.is_tuple()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < shape.elements.size(); ++i)
      elements.push_back(add_input(shape.elements[i], fmt::format("{}.{}", name, i), loc));
    return Value::tuple(std::move(elements));
  }
  penguin::Function& function = builder_.function();
  const TensorId id = builder_.add_tensor(name, shape.dtype, shape.dims, loc);
  function.tensors[id].role = Role::Input;
  function.tensors[id].io_index = static_cast<int32_t>(function.inputs.size());
  function.inputs.push_back(id);
  builder_.module().inputs.push_back(
      {name, shape.dtype, shape.dims, id, shape.dtype == Dtype::Pred ? "pred" : "none"});
  return builder_.whole(id);
}

void Lowering::add_outputs(const hlo::Module& module, const Value& result, const SourceLoc& loc) {
  std::vector<const View*> leaves;
  flatten(result, leaves);
  penguin::Function& function = builder_.function();
  for (size_t i = 0; i < leaves.size(); ++i) {
    const View& leaf = *leaves[i];
    const std::string name = i < module.result_names.size() && !module.result_names[i].empty()
                                 ? module.result_names[i]
                                 : fmt::format("output{}", i);
    TensorId id = penguin::kNone;
    // A tensor that is the result as it stands becomes the output itself; anything else is copied.
    if (leaf.is_tensor() && leaf.num_elements() > 0) {
      const penguin::Tensor& tensor = function.tensors[leaf.tensor_id()];
      const bool is_free = tensor.role == Role::Internal && tensor.alias_of == penguin::kNone;
      if (is_free && tensor.shape == leaf.shape() && leaf.is_dense(tensor.shape)) id = leaf.tensor_id();
    }
    if (id == penguin::kNone) {
      id = builder_.add_tensor(name, leaf.dtype(), leaf.shape(), loc);
      Emission copy;
      copy.operands = {leaf};
      copy.name = function.tensors[id].name;
      copy.loc = loc;
      builder_.emit(std::move(copy), builder_.whole(id));
    }
    function.tensors[id].role = Role::Output;
    function.tensors[id].io_index = static_cast<int32_t>(i);
    function.outputs.push_back(id);
    builder_.module().outputs.push_back(
        {name, leaf.dtype(), leaf.shape(), id, leaf.dtype() == Dtype::Pred ? "pred" : "none"});
  }
}

Status Lowering::run(const hlo::Module& module) {
  builder_.module().name = module.name();
  const hlo::Computation& entry = *module.entry();
  Arguments arguments;
  for (const Instruction* parameter : entry.parameters()) {
    NCC_TRY(check_types(*parameter, parameter->shape));
    arguments.push_back(add_input(parameter->shape, parameter->name, parameter->loc));
  }
  NCC_ASSIGN(const Value result, lower_computation(entry, arguments));
  add_outputs(module, result, entry.root()->loc);
  penguin::remove_dead(builder_.module());
  return Status::ok();
}

}  // namespace ncc::hlo2penguin
