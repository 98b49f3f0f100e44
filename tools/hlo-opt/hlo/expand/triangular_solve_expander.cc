// triangular-solve -> one of two ways, those of the interpreter, so that zeros, infinities and NaN on the way
// give what they give there. Only the triangle that the op reads is multiplied.
//   f32, at most kInverted rows: the inverse V of the lower triangle L, row by row, and its product with b:
//     U[i,:] = e[i] - sum over k < i of L[i,k] / L[k,k] U[k,:];  V[i,:] = U[i,:] / L[i,i]
//     An upper triangle is reversed before and after; op transposes V.
//   else substitution, L x = b: transposes for x op(a) = b and for op, reversal for upper triangles; then
//     x[i] = (b[i] - L[i,:] x) / L[i,i], rows of x not yet known being 0
// Source: spec/stablehlo-text.md §3.8, DESIGN §6; docs/decisions.md.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/expand/loop.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::TransposeKind;

constexpr int64_t kInverted = 128;

// Row and column numbers of the last two dimensions.
Value row_numbers(ComputationEditor& edit, const Dims& dims) {
  return {edit, edit.iota(Dtype::S32, dims, static_cast<int64_t>(dims.size()) - 2)};
}
Value column_numbers(ComputationEditor& edit, const Dims& dims) {
  return {edit, edit.iota(Dtype::S32, dims, static_cast<int64_t>(dims.size()) - 1)};
}

class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst) : edit_(edit), inst_(inst) {
    const Shape& b = inst->operand_shape(1);
    type_ = formula_type(b.dtype);
    n_ = inst->operand_shape(0).dims.back();
    rows_ = b.dims[b.dims.size() - 2];
    columns_ = b.dims.back();
    batch_ = b.num_elements() / (rows_ * columns_);
  }

  void run() {
    Instruction* a = edit_.reshape(edit_.convert(inst_->operand(0), type_), {batch_, n_, n_});
    Instruction* b = edit_.reshape(edit_.convert(inst_->operand(1), type_), {batch_, rows_, columns_});
    const bool by_inverse = inst_->shape.dtype == Dtype::F32 && n_ <= kInverted;
    Instruction* x = by_inverse ? multiplied(a, b) : solved(a, b);
    edit_.replace(inst_, edit_.convert(edit_.reshape(x, inst_->shape.dims), inst_->shape.dtype));
  }

 private:
  bool is_transposed() const {
    return inst_->attrs().transpose_a == TransposeKind::Transpose ||
           inst_->attrs().transpose_a == TransposeKind::Adjoint;
  }

  Instruction* multiplied(Instruction* a, Instruction* b) {
    const bool lower = inst_->attrs().lower;
    if (!lower) a = edit_.reverse(a, {1, 2});
    Instruction* inverse = inverted(a, inst_->attrs().unit_diagonal);
    if (!lower) inverse = edit_.reverse(inverse, {1, 2});
    const int64_t row = is_transposed() ? 2 : 1, column = 3 - row;
    return inst_->attrs().left_side ? edit_.dot(inverse, b, {{column}, {1}, {0}, {0}})
                                    : edit_.dot(b, inverse, {{2}, {row}, {0}, {0}});
  }

  Instruction* inverted(Instruction* matrix, bool unit_diagonal) {
    Value a(edit_, matrix);
    const Dims dims = a.shape().dims;
    const Value rows = row_numbers(edit_, dims), columns = column_numbers(edit_, dims);
    Instruction* pivots = unit_diagonal ? nullptr : diagonal(a, rows, columns);
    if (pivots) a = a / Value(edit_, edit_.broadcast(pivots, dims, {0, 2}));
    Instruction* below = select(greater(rows, columns), a, a.like(0)).inst();
    const int64_t n = n_, batch = batch_;
    const auto step = [n, batch](ComputationEditor& edit, Instruction* i,
                                 const std::vector<Instruction*>& v) {
      Instruction* zero = edit.scalar(Dtype::S32, 0);
      Instruction* row = edit.dynamic_slice(v[1], {zero, i, zero}, {batch, 1, n});
      const Value known(edit, edit.dot(row, v[0], {{2}, {1}, {0}, {0}}));
      const Value here =
          equal(column_numbers(edit, {batch, 1, n}), Value(edit, edit.broadcast_scalar(i, {batch, 1, n})));
      const Value next = select(here, known.like(1), -known);
      return std::vector<Instruction*>{edit.dynamic_update_slice(v[0], next.inst(), {zero, i, zero}), v[1]};
    };
    const Value unit(edit_, counted_loop(edit_, n_, {edit_.splat(matrix->shape, 0), below}, step)[0]);
    return pivots ? (unit / Value(edit_, edit_.broadcast(pivots, dims, {0, 1}))).inst() : unit.inst();
  }

  Instruction* solved(Instruction* a, Instruction* b) {
    const hlo::Attributes& attrs = inst_->attrs();
    if (attrs.transpose_a == TransposeKind::Adjoint && is_complex(type_)) a = conjugate(a);
    bool lower = attrs.lower;
    // op(a) x = b, or the transpose of x op(a) = b.
    if (is_transposed() == attrs.left_side) a = edit_.transpose(a, {0, 2, 1}), lower = !lower;
    if (!attrs.left_side) b = edit_.transpose(b, {0, 2, 1});
    if (!lower) a = edit_.reverse(a, {1, 2}), b = edit_.reverse(b, {1});
    Instruction* x = substituted(a, b, attrs.unit_diagonal);
    if (!lower) x = edit_.reverse(x, {1});
    return attrs.left_side ? x : edit_.transpose(x, {0, 2, 1});
  }

  Instruction* conjugate(Instruction* a) {
    const Value z(edit_, a);
    return binary(Opcode::Complex, unary(Opcode::Real, z), -unary(Opcode::Imag, z)).inst();
  }

  // The diagonal of a as [batch, n]. A sum of -0 everywhere else keeps every value, -0 too.
  Instruction* diagonal(Value a, Value rows, Value columns) {
    const Value masked = select(equal(rows, columns), a, a.like(-0.0));
    return edit_.reduce(masked.inst(), edit_.scalar(type_, -0.0), {2}, Opcode::Add);
  }

  Instruction* substituted(Instruction* matrix, Instruction* b, bool unit_diagonal) {
    const Value a(edit_, matrix);
    const Dims dims = a.shape().dims;
    const int64_t lines = b->shape.dims[2];
    const Value rows = row_numbers(edit_, dims), columns = column_numbers(edit_, dims);
    Instruction* below = select(greater(rows, columns), a, a.like(0)).inst();
    std::vector<Instruction*> values{edit_.splat(b->shape, 0), below, b};
    if (!unit_diagonal) values.push_back(diagonal(a, rows, columns));
    const int64_t n = n_, batch = batch_;
    const auto step = [n, batch, lines](ComputationEditor& edit, Instruction* i,
                                        const std::vector<Instruction*>& v) {
      Instruction* zero = edit.scalar(Dtype::S32, 0);
      Instruction* row = edit.dynamic_slice(v[1], {zero, i, zero}, {batch, 1, n});
      const Value known(edit, edit.dot(row, v[0], {{2}, {1}, {0}, {0}}));
      Value x = Value(edit, edit.dynamic_slice(v[2], {zero, i, zero}, {batch, 1, lines})) - known;
      if (v.size() > 3) {
        Instruction* pivot = edit.reshape(edit.dynamic_slice(v[3], {zero, i}, {batch, 1}), {batch});
        x = x / Value(edit, edit.broadcast(pivot, {batch, 1, lines}, {0}));
      }
      std::vector<Instruction*> next = v;
      next[0] = edit.dynamic_update_slice(v[0], x.inst(), {zero, i, zero});
      return next;
    };
    return counted_loop(edit_, n_, std::move(values), step)[0];
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  Dtype type_;
  int64_t n_, rows_, columns_, batch_;
};

}  // namespace

Status triangular_solve_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::TriangularSolve) || inst->shape.is_dynamic() || edit.is_pinned(inst))
      return Status::ok();
    if (inst->shape.num_elements() == 0) {
      edit.replace(inst, inst->operand(1));
    } else {
      Expansion(edit, inst).run();
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
