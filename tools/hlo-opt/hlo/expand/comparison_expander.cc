// Total-order comparisons of floats as comparisons of integers: the bits as a signed integer, all bits below
// the sign flipped when it is negative.
//   compare(a, b), TOTALORDER -> compare(key(a), key(b)); key(x) = s ^ ((s >> n-1) & max), s = bits of x
// Narrow floats that no integer of their width stands for (sub-byte) stay. Source: spec/stablehlo-text.md
// §3.3.
#include <limits>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

struct KeyType {
  Dtype dtype;
  int64_t bits, largest;
};

std::optional<KeyType> key_type(Dtype dtype) {
  if (!is_float(dtype)) return std::nullopt;
  switch (info(dtype).bits) {
    case 8:
      return KeyType{Dtype::S8, 8, std::numeric_limits<int8_t>::max()};
    case 16:
      return KeyType{Dtype::S16, 16, std::numeric_limits<int16_t>::max()};
    case 32:
      return KeyType{Dtype::S32, 32, std::numeric_limits<int32_t>::max()};
    case 64:
      return KeyType{Dtype::S64, 64, std::numeric_limits<int64_t>::max()};
    default:
      return std::nullopt;
  }
}

Value key(Value x, const KeyType& type) {
  const Value bits = x.bits_as(type.dtype);
  ComputationEditor& edit = x.edit();
  const Value mask(edit, edit.broadcast_scalar(edit.constant(Literal::scalar_int(type.dtype, type.largest)),
                                               x.shape().dims));
  return bits ^ (shift_right_signed(bits, static_cast<double>(type.bits - 1)) & mask);
}

}  // namespace

Status comparison_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::Compare) || inst->compare_type != hlo::CompareType::TotalOrder ||
        inst->shape.is_dynamic() || edit.is_pinned(inst))
      return Status::ok();
    const auto type = key_type(inst->operand_shape(0).dtype);
    if (!type) return Status::ok();
    const Value a = key({edit, inst->operand(0)}, *type), b = key({edit, inst->operand(1)}, *type);
    edit.replace(inst, compare(inst->direction, a, b).inst());
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
