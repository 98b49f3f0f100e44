// A slice of a concatenate reads the operands that it touches:
//   slice(concatenate(a, b, c)) inside one operand        -> slice of that operand
//   slice(concatenate(a, b, c)) over some of them, step 1 -> concatenate of the touched operands' slices
// Constant dynamic-slices have become slices before (algsimp). Source: spec/hlo-front-half.md §4.9.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Instruction* slice_concat(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Slice) || !inst->operand(0)->is(Opcode::Concatenate) || !is_plain_array(inst) ||
      inst->shape.num_elements() == 0)
    return nullptr;
  Instruction* concat = inst->operand(0);
  const size_t dim = static_cast<size_t>(concat->dimensions[0]);
  const hlo::Attributes& attrs = inst->attrs();
  const int64_t start = attrs.slice_starts[dim], stride = attrs.slice_strides[dim];
  const int64_t end = start + (inst->shape.dims[dim] - 1) * stride + 1;  // behind the last element read
  struct Piece {
    Instruction* operand;
    int64_t begin, end;  // in the operand
  };
  std::vector<Piece> pieces;
  int64_t offset = 0;
  for (Instruction* operand : concat->operands) {
    const int64_t size = operand->shape.dims[dim];
    const int64_t begin = std::max(start - offset, int64_t{0}), stop = std::min(end - offset, size);
    if (begin < stop) pieces.push_back({operand, begin, stop});
    offset += size;
  }
  if (pieces.size() == static_cast<size_t>(concat->num_operands()) && pieces.size() > 1) return nullptr;
  if (pieces.size() > 1 && (stride != 1 || !edit.has_one_use(concat))) return nullptr;
  std::vector<Instruction*> parts;
  for (const Piece& piece : pieces) {
    Dims starts = attrs.slice_starts, limits = attrs.slice_limits;
    starts[dim] = piece.begin;
    limits[dim] = piece.end;
    parts.push_back(edit.slice(piece.operand, starts, limits, attrs.slice_strides));
  }
  return edit.concatenate(std::move(parts), concat->dimensions[0]);
}

}  // namespace

Status slice_of_concat_optimizer(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, slice_concat);
}

}  // namespace ncc::hlo_passes
