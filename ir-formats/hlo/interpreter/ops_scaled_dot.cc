// scaled-dot: every block of an operand's elements shares one scale. Operands and scales are taken to bf16,
// multiplied there, and contracted as by dot: the decomposition that JAX hands along as composite
// `xla.scaled_dot`. Source: spec/hlo-proto.md §14.3.
#include "ir-formats/hlo/infer.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// bf16(operand) * bf16(scale of its block); a scale of one element is everybody's.
Result<Literal> scaled(const Instruction& inst, const Literal& operand, const Literal& scale) {
  const std::vector<int64_t>&dims = operand.shape().dims, &blocks = scale.shape().dims;
  const bool shared = scale.num_elements() == 1;
  std::vector<int64_t> block(dims.size(), 1);
  for (size_t d = 0; d < dims.size() && !shared; ++d) {
    if (blocks.size() != dims.size() || blocks[d] < 1 || dims[d] % blocks[d] != 0)
      return unsupported(inst, fmt::format("scales {} do not divide operand {}", to_string(scale.shape()),
                                           to_string(operand.shape())));
    block[d] = std::max<int64_t>(1, dims[d] / blocks[d]);
  }
  const Literal x = converted(operand, Dtype::BF16), s = converted(scale, Dtype::BF16);
  Literal out = Literal::zeros(Shape::array(Dtype::BF16, dims));
  const std::vector<int64_t> strides =
      shared ? std::vector<int64_t>(dims.size(), 0) : row_major_strides(blocks);
  std::vector<int64_t> index(dims.size(), 0);
  if (out.num_elements() == 0) return out;
  int64_t position = 0;
  do {
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) at += index[d] / block[d] * strides[d];
    store_from_double(Dtype::BF16, out.mutable_data() + position * size_bytes(Dtype::BF16),
                      x.as_double(position) * s.as_double(at));
    ++position;
  } while (next_index(index, dims));
  return out;
}

}  // namespace

Result<Literal> eval_scaled_dot(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  // (lhs, lhs_scale, rhs, rhs_scale) or (lhs, rhs, lhs_scale, rhs_scale)
  const size_t rhs = static_cast<size_t>(scaled_dot_rhs_operand(inst));
  Operands pair;
  for (const auto& [operand, scale] : {std::pair{size_t{0}, 3 - rhs}, std::pair{rhs, size_t{3}}}) {
    NCC_ASSIGN(Literal value, scaled(inst, operands[operand], operands[scale]));
    pair.push_back(std::move(value));
  }
  Instruction dot;
  dot.opcode = Opcode::Dot;
  dot.name = inst.name;
  dot.loc = inst.loc;
  dot.shape = inst.shape;
  dot.mutable_attrs().dot = inst.attrs().dot;
  return eval_dot(evaluator, dot, pair);
}

}  // namespace ncc::hlo
