// Questions that rewrites ask about values.
#pragma once
#include <optional>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// A rewrite: the value that replaces `inst`, or nullptr. It builds nothing when it does not apply.
using Rewrite = Instruction* (*)(ComputationEditor& edit, Instruction* inst);

/// Applies a rewrite to every instruction until nothing changes; instructions with control edges stay.
Status rewrite_each(hlo::Module& module, int64_t& changes, Rewrite rewrite);

/// The constant whose elements are all equal that the value is, directly or as a broadcast of it; its first
/// element is the value. nullptr when it is none.
const Literal* splat_of(const Instruction* value);
/// A real floating-point or integer splat of exactly this value; 0 means +0.
bool is_splat(const Instruction* value, double wanted);
/// A floating-point splat of -0.
bool is_negative_zero(const Instruction* value);
/// An integer or pred splat with all bits set (pred: true).
bool is_all_ones(const Instruction* value);
/// The value of a scalar integer constant.
std::optional<int64_t> integer_of(const Instruction* value);

/// Real float, integer or pred element types.
inline bool is_real_float(const Instruction* value) { return is_float(value->shape.dtype); }
inline bool is_int(const Instruction* value) { return is_integer(value->shape.dtype); }
inline bool is_pred(const Instruction* value) { return value->shape.dtype == Dtype::Pred; }
/// Shapes that rewrites leave alone: dynamic sizes, quantized elements, tuples, tokens.
bool is_plain_array(const Instruction* value);

/// Every value of `from` is one of `to`.
bool holds_all_values(Dtype from, Dtype to);

/// The op of a body (a, b) -> op(a, b) (or op(b, a), for commutative ops) on its two scalar parameters.
std::optional<Opcode> binary_body(const Computation& body);
/// Ops whose folds do not depend on order: max, min, and, or, xor, and integer add and multiply.
bool is_order_free(Opcode op, Dtype dtype);

/// Dimensions of size other than 1, in order.
Dims wide_dimensions(const Shape& shape);
Dims inverse(const Dims& permutation);

}  // namespace ncc::hlo_passes
