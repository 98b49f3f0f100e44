#include "tools/hlo-opt/hlo/match.h"

#include <cmath>

namespace ncc::hlo_passes {

Status rewrite_each(hlo::Module& module, int64_t& changes, Rewrite rewrite) {
  return edit_each(module, changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (edit.has_control_edge(inst)) return Status::ok();
    Instruction* value = rewrite(edit, inst);
    if (value && value != inst) edit.replace(inst, value);
    return Status::ok();
  });
}

const Literal* splat_of(const Instruction* value) {
  while (value->is(Opcode::Broadcast) || value->is(Opcode::Reshape)) value = value->operand(0);
  if (!value->is(Opcode::Constant) || value->literal.is_tuple() || value->literal.num_elements() == 0)
    return nullptr;
  if (value->literal.num_elements() > 4096) {
    // Long tables are hardly ever splats: their first elements say so without reading all of it.
    const int64_t width = size_bytes(value->shape.dtype);
    const std::byte* data = value->literal.bytes().data();
    if (std::memcmp(data, data + width, static_cast<size_t>(width)) != 0) return nullptr;
  }
  return value->literal.is_splat() ? &value->literal : nullptr;
}

bool is_splat(const Instruction* value, double wanted) {
  const Literal* literal = splat_of(value);
  if (!literal) return false;
  const Dtype dtype = literal->shape().dtype;
  if (is_integer(dtype)) return literal->as_int64(0) == static_cast<int64_t>(wanted);
  if (!is_float(dtype)) return false;
  const double found = literal->as_double(0);
  return found == wanted && std::signbit(found) == std::signbit(wanted);
}

bool is_negative_zero(const Instruction* value) { return is_real_float(value) && is_splat(value, -0.0); }

bool is_all_ones(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal) return false;
  const Dtype dtype = literal->shape().dtype;
  if (dtype == Dtype::Pred) return literal->as_int64(0) != 0;
  if (!is_integer(dtype)) return false;
  const int bits = info(dtype).bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return (static_cast<uint64_t>(literal->as_int64(0)) & mask) == mask;
}

std::optional<int64_t> integer_of(const Instruction* value) {
  const Literal* literal = splat_of(value);
  if (!literal || !value->shape.is_scalar() || !is_integer(literal->shape().dtype)) return std::nullopt;
  return literal->as_int64(0);
}

bool is_plain_array(const Instruction* value) {
  return value->shape.is_array() && !value->shape.is_dynamic() && !value->shape.quantization;
}

bool holds_all_values(Dtype from, Dtype to) {
  if (from == to) return true;
  const DtypeInfo &a = info(from), &b = info(to);
  if (a.kind == DtypeKind::Pred)
    return b.kind == DtypeKind::Signed || b.kind == DtypeKind::Unsigned || b.bits >= 16;
  if (a.kind == DtypeKind::Unsigned)
    return (b.kind == DtypeKind::Unsigned && b.bits >= a.bits) ||
           (b.kind == DtypeKind::Signed && b.bits > a.bits);
  if (a.kind == DtypeKind::Signed) return b.kind == DtypeKind::Signed && b.bits >= a.bits;
  if (from == Dtype::F16 || from == Dtype::BF16) return to == Dtype::F32 || to == Dtype::F64;
  return from == Dtype::F32 && to == Dtype::F64;
}

std::optional<Opcode> binary_body(const Computation& body) {
  const Instruction* root = body.root();
  if (body.size() != 3 || root->info().kind != hlo::OpKind::Binary) return std::nullopt;
  const Instruction *a = root->operand(0), *b = root->operand(1);
  if (!a->is(Opcode::Parameter) || !b->is(Opcode::Parameter) || a == b) return std::nullopt;
  if (a->index > b->index && !root->info().commutative) return std::nullopt;
  return root->opcode;
}

bool is_order_free(Opcode op, Dtype dtype) {
  switch (op) {
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
      return !is_complex(dtype);
    case Opcode::Add:
    case Opcode::Multiply:
      return is_integer(dtype) || dtype == Dtype::Pred;
    default:
      return false;
  }
}

Dims wide_dimensions(const Shape& shape) {
  Dims list;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[static_cast<size_t>(d)] != 1) list.push_back(d);
  return list;
}

Dims inverse(const Dims& permutation) {
  Dims result(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    result[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return result;
}

}  // namespace ncc::hlo_passes
