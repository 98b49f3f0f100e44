#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::Role;

Value Lowering::constant(const hlo::Literal& literal, const Instruction& inst) {
  if (literal.is_tuple()) {
    std::vector<Value> elements;
    for (const hlo::Literal& element : literal.elements()) elements.push_back(constant(element, inst));
    return Value::tuple(std::move(elements));
  }
  const hlo::Shape& shape = literal.shape();
  const size_t size = static_cast<size_t>(size_bytes(shape.dtype));
  if (shape.num_elements() == 0 || literal.is_splat()) {
    uint64_t bits = 0;
    if (shape.num_elements() > 0) std::memcpy(&bits, literal.bytes().data(), size);
    return View::scalar(builder_.affine(), shape.dtype, bits, shape.dims);
  }
  const ConstantStore::Location where = constants_.add(literal.bytes());
  const penguin::TensorId id = builder_.add_tensor(inst.name, shape.dtype, shape.dims, inst.loc);
  penguin::Tensor& tensor = builder_.function().tensors[id];
  tensor.role = Role::Const;
  tensor.const_offset = where.offset;
  tensor.const_hash = where.hash;
  return builder_.whole(id);
}

Result<Value> Lowering::lower_constant(const Instruction& inst) { return constant(inst.literal, inst); }

Result<Value> Lowering::lower_iota(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  return Value(View::iota(builder_.affine(), inst.shape.dtype, inst.shape.dims, inst.dimensions.front()));
}

Result<Value> Lowering::lower_parameter(const Instruction& inst) {
  return Value(frame_->arguments[static_cast<size_t>(inst.index)]);
}

}  // namespace ncc::hlo2penguin
