// cholesky -> column after column of the lower factor L of a = L L^H:
//   c = a[:,j] - L conj(L[j,:]);  L[j,j] = sqrt(real(c[j]));  L[i,j] = c[i] / L[j,j] for i > j
// Columns of L not yet known are 0. The upper factor is the conjugate transpose of the lower factor of the
// conjugate transpose. Source: spec/stablehlo-text.md §3.8, DESIGN §6.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/expand/loop.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Value real(Value z) { return is_complex(z.dtype()) ? unary(Opcode::Real, z) : z; }

Value conjugate(Value z) {
  if (!is_complex(z.dtype())) return z;
  return binary(Opcode::Complex, unary(Opcode::Real, z), -unary(Opcode::Imag, z));
}

// z divided by real numbers.
Value divided(Value z, Value by) {
  if (!is_complex(z.dtype())) return z / by;
  return binary(Opcode::Complex, unary(Opcode::Real, z) / by, unary(Opcode::Imag, z) / by);
}

Value as_type_of(Value z, Value real_value) {
  if (!is_complex(z.dtype())) return real_value;
  return binary(Opcode::Complex, real_value, real_value.like(0));
}

// Values: L, a.
std::vector<Instruction*> next_column(ComputationEditor& edit, Instruction* j,
                                      const std::vector<Instruction*>& values) {
  const Value factor(edit, values[0]);
  const Dims& dims = factor.shape().dims;
  const int64_t batch = dims[0], n = dims[1];
  Instruction* zero = edit.scalar(Dtype::S32, 0);
  const Value row(edit, edit.dynamic_slice(values[0], {zero, j, zero}, {batch, 1, n}));
  const Value known(edit, edit.dot(factor.inst(), conjugate(row).inst(), {{2}, {2}, {0}, {0}}));
  const Value column = Value(edit, edit.dynamic_slice(values[1], {zero, zero, j}, {batch, n, 1})) - known;
  const Value corner(edit, edit.dynamic_slice(column.inst(), {zero, j, zero}, {batch, 1, 1}));
  Instruction* root = edit.reshape(sqrt(real(corner)).inst(), {batch});
  const Value pivot(edit, edit.broadcast(root, {batch, n, 1}, {0}));
  const Value rows(edit, edit.iota(Dtype::S32, {batch, n, 1}, 1));
  const Value at(edit, edit.broadcast_scalar(j, {batch, n, 1}));
  const Value below = select(greater(rows, at), divided(column, pivot), column.like(0));
  const Value result = select(equal(rows, at), as_type_of(column, pivot), below);
  return {edit.dynamic_update_slice(values[0], result.inst(), {zero, zero, j}), values[1]};
}

void expand(ComputationEditor& edit, Instruction* inst) {
  const Shape& shape = inst->shape;
  const int64_t n = shape.dims.back(), batch = shape.num_elements() / (n * n);
  Instruction* a = edit.convert(inst->operand(0), formula_type(shape.dtype));
  a = edit.reshape(a, {batch, n, n});
  const bool lower = inst->attrs().lower;
  if (!lower) a = conjugate({edit, edit.transpose(a, {0, 2, 1})}).inst();
  Instruction* factor = counted_loop(edit, n, {edit.splat(a->shape, 0), a}, next_column)[0];
  if (!lower) factor = conjugate({edit, edit.transpose(factor, {0, 2, 1})}).inst();
  edit.replace(inst, edit.convert(edit.reshape(factor, shape.dims), shape.dtype));
}

}  // namespace

Status cholesky_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (inst->is(Opcode::Cholesky) && inst->shape.num_elements() > 0 && !inst->shape.is_dynamic() &&
        !edit.is_pinned(inst))
      expand(edit, inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
