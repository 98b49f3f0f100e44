// Ops whose result shape is an operand: the stated result type is static here, so the shape operands carry no
// information, but paddings, starts and strides do. Source: spec/stablehlo-text.md §2.7, §3.10.
#include <algorithm>

#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

std::vector<int64_t> integers(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_int64(i));
  return values;
}

Status require_static(const Instruction& inst) {
  return inst.shape.is_dynamic() ? unsupported(inst, "its result shape is not static") : Status::ok();
}

// An instruction of the static op with the same result shape.
Instruction static_twin(const Instruction& inst, Opcode opcode) {
  Instruction twin;
  twin.opcode = opcode;
  twin.name = inst.name;
  twin.shape = inst.shape;
  twin.dimensions = inst.dimensions;
  twin.operands = inst.operands;
  twin.loc = inst.loc;
  if (inst.has_attrs()) twin.mutable_attrs() = inst.attrs();
  return twin;
}

}  // namespace

Result<Literal> eval_dynamic_reshape(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  return eval_reshape(evaluator, inst, operands);
}

Result<Literal> eval_dynamic_broadcast(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  return eval_broadcast(evaluator, inst, operands);
}

Result<Literal> eval_dynamic_iota(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  return eval_iota(evaluator, inst, operands);
}

// Operands: array, padding value, low, high, interior.
Result<Literal> eval_dynamic_pad(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  Instruction twin = static_twin(inst, Opcode::Pad);
  const auto low = integers(operands[2]), high = integers(operands[3]), interior = integers(operands[4]);
  twin.mutable_attrs().padding.clear();
  for (size_t d = 0; d < low.size(); ++d)
    twin.mutable_attrs().padding.push_back({low[d], high[d], interior[d]});
  return eval_pad(evaluator, twin, operands);
}

// Operands: array, starts, limits, strides. With strides of 1 it is XLA's dynamic-slice, whose starts are
// clamped.
Result<Literal> eval_real_dynamic_slice(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  Instruction twin = static_twin(inst, Opcode::Slice);
  twin.mutable_attrs().slice_starts = integers(operands[1]);
  twin.mutable_attrs().slice_limits = integers(operands[2]);
  twin.mutable_attrs().slice_strides = integers(operands[3]);
  Attributes& a = twin.mutable_attrs();
  std::vector<int64_t>& starts = a.slice_starts;
  const bool plain =
      std::all_of(a.slice_strides.begin(), a.slice_strides.end(), [](int64_t s) { return s == 1; });
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t room = operands[0].shape().dims[d] - inst.shape.dims[d];
    if (plain && room >= 0) {
      starts[d] = std::clamp<int64_t>(starts[d], 0, room);
      a.slice_limits[d] = starts[d] + inst.shape.dims[d];
    }
    const int64_t last = starts[d] + (inst.shape.dims[d] - 1) * twin.attrs().slice_strides[d];
    if (inst.shape.dims[d] > 0 && (starts[d] < 0 || last >= operands[0].shape().dims[d]))
      return error(Code::ERUN003, inst.loc, fmt::format("slice of dimension {} is out of bounds", d));
  }
  return eval_slice(evaluator, twin, operands);
}

// Operands: array, start indices, slice sizes.
Result<Literal> eval_dynamic_gather(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  return gather(operands[0], operands[1], inst.attrs().gather, integers(operands[2]), inst.shape.dims);
}

// Operands: input, kernel, padding as pairs.
Result<Literal> eval_dynamic_conv(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(require_static(inst));
  Instruction twin = static_twin(inst, Opcode::Convolution);
  const auto padding = integers(operands[2]);
  Window& window = twin.mutable_attrs().window;
  for (size_t d = 0; d < window.size() && 2 * d + 1 < padding.size(); ++d) {
    window[d].padding_low = padding[2 * d];
    window[d].padding_high = padding[2 * d + 1];
  }
  operands.pop_back();
  return eval_convolution(evaluator, twin, operands);
}

}  // namespace ncc::hlo
