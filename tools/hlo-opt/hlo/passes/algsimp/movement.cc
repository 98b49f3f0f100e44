// Reshape, transpose, broadcast, reverse: compositions and identities. slicing.cc has slice, pad,
// concatenate.
#include <algorithm>

#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

// For a reshape that only adds or drops sizes of 1: the result dimension of each operand dimension that is
// not 1. Nothing when it does more.
std::optional<Dims> kept_dimensions(const Instruction& reshape) {
  const Dims from = wide_dimensions(reshape.operand_shape(0)), to = wide_dimensions(reshape.shape);
  if (from.size() != to.size()) return std::nullopt;
  for (size_t i = 0; i < from.size(); ++i)
    if (reshape.operand_shape(0).dims[at(from[i])] != reshape.shape.dims[at(to[i])]) return std::nullopt;
  return to;
}

}  // namespace

Instruction* simplify_reshape(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->shape.dims == inst->shape.dims) return x;
  if (x->is(Opcode::Reshape)) return edit.reshape(x->operand(0), inst->shape.dims);
  if (x->is(Opcode::Broadcast) && x->operand(0)->shape.is_scalar())
    return edit.broadcast_scalar(x->operand(0), inst->shape.dims);
  if (x->is(Opcode::Iota) && x->shape.rank() > 0) {
    const auto kept = kept_dimensions(*inst);
    const Dims wide = wide_dimensions(x->shape);
    const auto found = std::find(wide.begin(), wide.end(), x->dimensions[0]);
    if (kept && found != wide.end())
      return edit.iota(inst->shape.dtype, inst->shape.dims, (*kept)[at(found - wide.begin())]);
  }
  return nullptr;
}

Instruction* simplify_transpose(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (std::is_sorted(inst->dimensions.begin(), inst->dimensions.end())) return x;
  if (x->is(Opcode::Transpose)) {
    Dims composed;
    for (int64_t d : inst->dimensions) composed.push_back(x->dimensions[at(d)]);
    return edit.transpose(x->operand(0), std::move(composed));
  }
  // Only sizes of 1 move: the elements stay where they are.
  Dims wide;
  for (int64_t d : inst->dimensions)
    if (x->shape.dims[at(d)] != 1) wide.push_back(d);
  if (std::is_sorted(wide.begin(), wide.end())) return edit.reshape(x, inst->shape.dims);
  if (x->is(Opcode::Iota)) {
    const auto found = std::find(inst->dimensions.begin(), inst->dimensions.end(), x->dimensions[0]);
    return edit.iota(inst->shape.dtype, inst->shape.dims, found - inst->dimensions.begin());
  }
  if (x->is(Opcode::Broadcast)) {
    // Where each operand dimension of the broadcast ends up; they must stay in order.
    const Dims position = inverse(inst->dimensions);
    Dims dimensions;
    for (int64_t d : x->dimensions) dimensions.push_back(position[at(d)]);
    if (std::is_sorted(dimensions.begin(), dimensions.end()))
      return edit.broadcast(x->operand(0), inst->shape.dims, std::move(dimensions));
  }
  return nullptr;
}

Instruction* simplify_broadcast(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->shape.dims == inst->shape.dims) return x;
  if (x->is(Opcode::Broadcast)) {
    Dims dimensions;
    for (int64_t d : x->dimensions) dimensions.push_back(inst->dimensions[at(d)]);
    return edit.broadcast(x->operand(0), inst->shape.dims, std::move(dimensions));
  }
  if (x->is(Opcode::Iota)) {
    const int64_t dimension = inst->dimensions[at(x->dimensions[0])];
    return edit.iota(inst->shape.dtype, inst->shape.dims, dimension);
  }
  if (x->is(Opcode::Reshape)) {
    // Sizes of 1 that a reshape added are broadcast or stay 1: the broadcast can make them itself, when the
    // source has none of its own.
    Instruction* source = x->operand(0);
    const auto kept = kept_dimensions(*x);
    if (!kept || kept->size() != source->shape.dims.size()) return nullptr;
    Dims dimensions;
    for (int64_t d : *kept) dimensions.push_back(inst->dimensions[at(d)]);
    return edit.broadcast(source, inst->shape.dims, std::move(dimensions));
  }
  return nullptr;
}

Instruction* simplify_reverse(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  Dims moving;
  for (int64_t d : inst->dimensions) {
    const bool is_equal_along =
        x->is(Opcode::Broadcast) &&
        std::find(x->dimensions.begin(), x->dimensions.end(), d) == x->dimensions.end();
    if (x->shape.dims[at(d)] != 1 && !is_equal_along) moving.push_back(d);
  }
  if (moving.size() != inst->dimensions.size()) return edit.reverse(x, std::move(moving));
  if (x->is(Opcode::Reverse)) {
    Dims once;
    for (int64_t d = 0; d < x->shape.rank(); ++d) {
      const auto holds = [&](const Dims& list) {
        return std::find(list.begin(), list.end(), d) != list.end();
      };
      if (holds(inst->dimensions) != holds(x->dimensions)) once.push_back(d);
    }
    return edit.reverse(x->operand(0), std::move(once));
  }
  return nullptr;
}

Instruction* simplify_get_dimension_size(ComputationEditor& edit, Instruction* inst) {
  const int64_t size = inst->operand_shape(0).dims[at(inst->dimensions[0])];
  return edit.constant(Literal::scalar_int(inst->shape.dtype, size));
}

Instruction* simplify_iota(ComputationEditor& edit, Instruction* inst) {
  if (inst->shape.rank() == 0 || inst->shape.dims[at(inst->dimensions[0])] != 1) return nullptr;
  return edit.broadcast_scalar(edit.constant(Literal::scalar_int(inst->shape.dtype, 0)), inst->shape.dims);
}

}  // namespace ncc::hlo_passes::algsimp_rules
