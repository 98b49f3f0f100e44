// Reduce, sort and map.
#include <algorithm>

#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

bool is_reduced(const Instruction& reduce, int64_t d) {
  return std::find(reduce.dimensions.begin(), reduce.dimensions.end(), d) != reduce.dimensions.end();
}

// One fold per result element: body(initial, x).
Instruction* reduce_single(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *initial = inst->operand(1);
  for (int64_t d : inst->dimensions)
    if (x->shape.dims[at(d)] != 1) return nullptr;
  const Instruction* root = inst->body()->root();
  if (!binary_body(*inst->body()) || inst->shape.dtype != x->shape.dtype ||
      root->shape.dtype != x->shape.dtype || root->operand_shape(0).dtype != x->shape.dtype ||
      initial->shape.dtype != x->shape.dtype)
    return nullptr;
  Instruction* start = edit.broadcast_scalar(initial, inst->shape.dims);
  Instruction* value = edit.reshape(x, inst->shape.dims);
  const bool is_swapped = root->operand(0)->index == 1;
  return is_swapped ? edit.apply(root->opcode, {value, start}) : edit.apply(root->opcode, {start, value});
}

}  // namespace

Instruction* simplify_reduce(ComputationEditor& edit, Instruction* inst) {
  if (inst->num_operands() != 2) return nullptr;
  if (Instruction* single = reduce_single(edit, inst)) return single;
  const auto op = binary_body(*inst->body());
  Instruction *x = inst->operand(0), *initial = inst->operand(1);
  if (!op || !is_order_free(*op, x->shape.dtype)) return nullptr;
  if (x->is(Opcode::Transpose)) {
    // The result keeps its order only when the kept dimensions keep theirs.
    Dims dimensions, kept;
    for (int64_t d = 0; d < x->shape.rank(); ++d)
      (is_reduced(*inst, d) ? dimensions : kept).push_back(x->dimensions[at(d)]);
    if (!std::is_sorted(kept.begin(), kept.end())) return nullptr;
    std::sort(dimensions.begin(), dimensions.end());
    return edit.reduce({x->operand(0)}, {initial}, std::move(dimensions), inst->body());
  }
  if (x->is(Opcode::Reduce) && x->num_operands() == 2 && binary_body(*x->body()) == op &&
      x->operand(1) == initial && edit.has_one_use(x)) {
    // Folding the initial value once or twice is the same for these ops only when it is neutral or they are
    // idempotent; add, multiply and xor are not.
    if (*op == Opcode::Add || *op == Opcode::Multiply || *op == Opcode::Xor) {
      if (!is_splat(initial, *op == Opcode::Multiply ? 1 : 0)) return nullptr;
    }
    Dims dimensions = x->dimensions, kept;
    for (int64_t d = 0; d < x->operand_shape(0).rank(); ++d)
      if (!is_reduced(*x, d)) kept.push_back(d);
    for (int64_t d : inst->dimensions) dimensions.push_back(kept[at(d)]);
    std::sort(dimensions.begin(), dimensions.end());
    return edit.reduce({x->operand(0)}, {initial}, std::move(dimensions), inst->body());
  }
  return nullptr;
}

Instruction* simplify_sort(ComputationEditor& edit, Instruction* inst) {
  if (inst->dimensions.empty() || inst->operand_shape(0).dims[at(inst->dimensions[0])] > 1) return nullptr;
  return inst->shape.is_tuple() ? edit.tuple(inst->operands) : inst->operand(0);
}

Instruction* simplify_map(ComputationEditor& edit, Instruction* inst) {
  const Instruction* root = inst->body()->root();
  if (inst->num_operands() != 2 || !binary_body(*inst->body()) || !root->info().elementwise ||
      !compatible(inst->operand_shape(0), inst->operand_shape(1)) || root->has_attrs())
    return nullptr;
  if (root->shape.dtype != inst->shape.dtype || root->operand_shape(0).dtype != inst->operand_shape(0).dtype)
    return nullptr;
  const bool is_swapped = root->operand(0)->index == 1;
  return edit.apply(root->opcode, {inst->operand(is_swapped), inst->operand(!is_swapped)});
}

}  // namespace ncc::hlo_passes::algsimp_rules
