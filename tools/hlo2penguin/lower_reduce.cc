// reduce and reduce-window: the body must be one known operation on its two parameters.
#include <algorithm>

#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::AxisRole;
using penguin::ScalarFunction;

std::optional<ScalarFunction> fold_of(const hlo::Computation& body) {
  const hlo::Instruction* root = body.root();
  if (root->num_operands() != 2) return std::nullopt;
  const hlo::Instruction *a = root->operand(0), *b = root->operand(1);
  if (!a->is(hlo::Opcode::Parameter) || !b->is(hlo::Opcode::Parameter) || a == b) return std::nullopt;
  switch (root->opcode) {
    case hlo::Opcode::Add:
      return ScalarFunction::Add;
    case hlo::Opcode::Multiply:
      return ScalarFunction::Multiply;
    case hlo::Opcode::Maximum:
      return ScalarFunction::Maximum;
    case hlo::Opcode::Minimum:
      return ScalarFunction::Minimum;
    case hlo::Opcode::And:
      return ScalarFunction::And;
    case hlo::Opcode::Or:
      return ScalarFunction::Or;
    case hlo::Opcode::Xor:
      return ScalarFunction::Xor;
    default:
      return std::nullopt;
  }
}

Result<Value> Lowering::lower_reduce(const Instruction& inst) {
  if (inst.num_operands() != 2) return unsupported(inst, "it folds several arrays at once");
  const std::optional<ScalarFunction> function = fold_of(*inst.body());
  if (!function)
    return unsupported(inst, "its body is not one of add, multiply, maximum, minimum, and, or, xor");
  const View& data = view(inst, 0);
  const View& init = view(inst, 1);
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  if (data.num_elements() == 0) return Value(init.broadcast({}, inst.shape.dims));
  Emission out = emission(inst);
  out.function = *function;
  if (inst.shape.num_elements() == data.num_elements()) {  // nothing to fold but the initial value
    out.operands = {init.broadcast({}, inst.shape.dims), *data.reshape(inst.shape.dims)};
    return Value(emit_elementwise(std::move(out), inst.shape.dtype));
  }
  out.op = penguin::TensorOp::Reduce;
  out.roles.assign(data.shape().size(), AxisRole::Parallel);
  for (int64_t d : inst.dimensions) out.roles[static_cast<size_t>(d)] = AxisRole::Reduce;
  out.operands = {data, init.broadcast({}, data.shape())};
  return Value(builder_.emit_new(std::move(out), inst.shape.dtype));
}

Result<Value> Lowering::lower_reduce_window(const Instruction& inst) {
  if (inst.num_operands() != 2) return unsupported(inst, "it folds several arrays at once");
  const std::optional<ScalarFunction> function = fold_of(*inst.body());
  if (!function)
    return unsupported(inst, "its body is not one of add, multiply, maximum, minimum, and, or, xor");
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  const hlo::Window& window = inst.attrs().window;
  std::vector<hlo::PaddingDim> padding;
  for (const hlo::WindowDim& dim : window)
    padding.push_back({dim.padding_low, dim.padding_high, dim.base_dilation - 1});
  const View& init = view(inst, 1);
  View data = pad(view(inst, 0), init, padding, emission(inst));
  // Domain: every result dimension, then every window dimension.
  const size_t rank = window.size();
  std::vector<int64_t> sizes = inst.shape.dims, map;
  for (size_t d = 0; d < rank; ++d) {
    data = builder_.window(data, static_cast<int64_t>(2 * d), inst.shape.dims[d], window[d].stride,
                           window[d].size, window[d].window_dilation, inst.name, inst.loc);
    map.insert(map.end(), {static_cast<int64_t>(d), static_cast<int64_t>(rank + d)});
    sizes.push_back(window[d].size);
  }
  Emission out = emission(inst);
  out.op = penguin::TensorOp::Reduce;
  out.function = *function;
  out.roles.assign(rank, AxisRole::Parallel);
  out.roles.resize(2 * rank, AxisRole::Reduce);
  out.operands = {data.broadcast(map, sizes), init.broadcast({}, sizes)};
  return Value(builder_.emit_new(std::move(out), inst.shape.dtype));
}

}  // namespace ncc::hlo2penguin
