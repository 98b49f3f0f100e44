// A dot reads its operand through any dimension numbers, so a transpose before it is one of them:
//   dot(transpose(a), b) -> dot(a, b) with a's own dimension numbers
// when the free dimensions of `a` come in the same order as before (their order is the result's). The same
// products are summed; a library may add them in another order: results may round differently.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool keeps_free_order(const Instruction& transpose, const Dims& batch, const Dims& contracting) {
  Dims free;
  for (int64_t d = 0; d < transpose.shape.rank(); ++d) {
    const auto in = [&](const Dims& dims) { return std::find(dims.begin(), dims.end(), d) != dims.end(); };
    if (!in(batch) && !in(contracting)) free.push_back(transpose.dimensions[static_cast<size_t>(d)]);
  }
  return std::is_sorted(free.begin(), free.end());
}

void through(const Instruction& transpose, Dims& dims) {
  for (int64_t& d : dims) d = transpose.dimensions[static_cast<size_t>(d)];
}

Instruction* fold(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Dot) || !is_plain_array(inst)) return nullptr;
  hlo::DotDims dims = inst->attrs().dot;
  Instruction *lhs = inst->operand(0), *rhs = inst->operand(1);
  if (lhs->is(Opcode::Transpose) && keeps_free_order(*lhs, dims.lhs_batch, dims.lhs_contracting)) {
    through(*lhs, dims.lhs_batch);
    through(*lhs, dims.lhs_contracting);
    lhs = lhs->operand(0);
  }
  if (rhs->is(Opcode::Transpose) && keeps_free_order(*rhs, dims.rhs_batch, dims.rhs_contracting)) {
    through(*rhs, dims.rhs_batch);
    through(*rhs, dims.rhs_contracting);
    rhs = rhs->operand(0);
  }
  if (lhs == inst->operand(0) && rhs == inst->operand(1)) return nullptr;
  Instruction* folded = edit.clone(inst, {lhs, rhs});
  folded->mutable_attrs().dot = std::move(dims);
  return folded;
}

}  // namespace

Status transpose_folding(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, fold);
}

}  // namespace ncc::hlo_passes
