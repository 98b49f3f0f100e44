// ragged_dot: the rows of one lhs dimension belong to consecutive groups of given sizes; each group is a dot
// of its own. Where that dimension is free, every group has its own rhs; where it is contracted, every group
// has its own result; where it is a batch dimension, groups change nothing. Rows behind the last group give
// zeros. Source: spec/stablehlo-text.md §2.9.
#include <algorithm>

#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

bool listed(const std::vector<int64_t>& list, int64_t d) {
  return std::find(list.begin(), list.end(), d) != list.end();
}

Literal rows_of(const Literal& whole, int64_t dim, int64_t first, int64_t count) {
  std::vector<int64_t> dims = whole.shape().dims;
  const std::vector<int64_t> strides = row_major_strides(dims);
  const int64_t width = size_bytes(whole.shape().dtype);
  dims[static_cast<size_t>(dim)] = count;
  Literal out = Literal::zeros(Shape::array(whole.shape().dtype, dims));
  strided_copy(width, dims, whole.bytes().data() + first * strides[static_cast<size_t>(dim)] * width, strides,
               out.mutable_data(), row_major_strides(dims));
  return out;
}

void put_rows(Literal& whole, int64_t dim, int64_t first, const Literal& rows) {
  const std::vector<int64_t> strides = row_major_strides(whole.shape().dims);
  const int64_t width = size_bytes(whole.shape().dtype);
  strided_copy(width, rows.shape().dims, rows.bytes().data(), row_major_strides(rows.shape().dims),
               whole.mutable_data() + first * strides[static_cast<size_t>(dim)] * width, strides);
}

// `literal` without its dimension `dim`, of size 1.
Literal without_dim(const Literal& literal, int64_t dim) {
  std::vector<int64_t> dims = literal.shape().dims;
  dims.erase(dims.begin() + dim);
  return reshaped(literal, Shape::array(literal.shape().dtype, dims));
}

// The dot of the same dimensions; those of rhs behind a dropped group dimension move up.
Result<Literal> plain_dot(Evaluator& evaluator, const Instruction& inst, Literal lhs, Literal rhs,
                          int64_t dropped) {
  Instruction twin;
  twin.opcode = Opcode::Dot;
  twin.shape = Shape::array(inst.shape.dtype);
  DotDims& dims = twin.mutable_attrs().dot = inst.attrs().dot;
  if (dropped >= 0) {
    for (std::vector<int64_t>* list : {&dims.rhs_batch, &dims.rhs_contracting})
      for (int64_t& d : *list) d -= d > dropped ? 1 : 0;
  }
  Operands operands;
  operands.push_back(std::move(lhs));
  operands.push_back(std::move(rhs));
  return eval_dot(evaluator, twin, operands);
}

// Where a free dimension of lhs is in the result: behind the batch dimensions, among the free ones.
int64_t result_dim_of(const DotDims& dims, int64_t lhs_dim) {
  int64_t position = static_cast<int64_t>(dims.lhs_batch.size());
  for (int64_t d = 0; d < lhs_dim; ++d)
    position += !listed(dims.lhs_batch, d) && !listed(dims.lhs_contracting, d);
  return position;
}

}  // namespace

Result<Literal> eval_ragged_dot(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const Attributes& attrs = inst.attrs();
  if (attrs.lhs_ragged_dims.size() != 1 || operands[2].shape().rank() != 1)
    return unsupported(inst, "only one ragged dimension with one list of group sizes is evaluated");
  const int64_t ragged = attrs.lhs_ragged_dims[0];
  const bool contracted = listed(attrs.dot.lhs_contracting, ragged),
             batch = listed(attrs.dot.lhs_batch, ragged);
  const Literal &lhs = operands[0], &rhs = operands[1];
  const int64_t group_dim = attrs.rhs_group_dims.empty() ? -1 : attrs.rhs_group_dims[0];
  if (!contracted && !batch && group_dim < 0) return unsupported(inst, "rhs has no group dimension");
  const int64_t rows = lhs.shape().dims[static_cast<size_t>(ragged)];
  // The rhs dimension that goes along with a contracted or batch dimension of lhs.
  int64_t rhs_dim = -1;
  for (size_t i = 0; i < attrs.dot.lhs_contracting.size(); ++i)
    if (attrs.dot.lhs_contracting[i] == ragged) rhs_dim = attrs.dot.rhs_contracting[i];
  for (size_t i = 0; i < attrs.dot.lhs_batch.size(); ++i)
    if (attrs.dot.lhs_batch[i] == ragged) rhs_dim = attrs.dot.rhs_batch[i];
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, inst.shape.dims));
  int64_t first = 0;
  for (int64_t g = 0; g < operands[2].num_elements() && first < rows; ++g) {
    const int64_t count = std::clamp<int64_t>(operands[2].as_int64(g), 0, rows - first);
    if (count == 0 && !contracted) continue;
    Literal left = rows_of(lhs, ragged, first, count);
    Literal right = contracted || batch ? rows_of(rhs, rhs_dim, first, count)
                                        : without_dim(rows_of(rhs, group_dim, g, 1), group_dim);
    NCC_ASSIGN(Literal part, plain_dot(evaluator, inst, std::move(left), std::move(right),
                                       contracted || batch ? -1 : group_dim));
    if (contracted) {
      std::vector<int64_t> dims = part.shape().dims;
      dims.insert(dims.begin(), 1);
      put_rows(out, 0, g, reshaped(part, Shape::array(part.shape().dtype, dims)));
    } else {
      int64_t at = result_dim_of(attrs.dot, ragged);
      if (batch)
        at = std::find(attrs.dot.lhs_batch.begin(), attrs.dot.lhs_batch.end(), ragged) -
             attrs.dot.lhs_batch.begin();
      put_rows(out, at, first, part);
    }
    first += count;
  }
  return out;
}

}  // namespace ncc::hlo
