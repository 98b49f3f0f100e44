// Every dot in canonical form: operands [batch…, M, K] and [batch…, K, N], one contracting and at most one
// free dimension each, result [batch…, M, N]; around it transposes and reshapes. Several contracting (or
// free) dimensions merge into one; none becomes a size of 1. The sum runs over the same products, in the
// order of the merged dimension: results may round differently. Source: XLA's DotDecomposer.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

Dims iota(int64_t count) {
  Dims list;
  for (int64_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

Dims free_dimensions(const Shape& shape, const Dims& batch, const Dims& contracting) {
  Dims list;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const auto in = [&](const Dims& dims) { return std::find(dims.begin(), dims.end(), d) != dims.end(); };
    if (!in(batch) && !in(contracting)) list.push_back(d);
  }
  return list;
}

int64_t product(const Shape& shape, const Dims& dims) {
  int64_t size = 1;
  for (int64_t d : dims) size *= shape.dims[at(d)];
  return size;
}

Dims concat(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

Instruction* decompose(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Dot) || !is_plain_array(inst)) return nullptr;
  Instruction *lhs = inst->operand(0), *rhs = inst->operand(1);
  if (!is_plain_array(lhs) || !is_plain_array(rhs)) return nullptr;
  const hlo::DotDims dims = inst->attrs().dot;
  const Dims lhs_free = free_dimensions(lhs->shape, dims.lhs_batch, dims.lhs_contracting);
  const Dims rhs_free = free_dimensions(rhs->shape, dims.rhs_batch, dims.rhs_contracting);
  const int64_t batch_rank = static_cast<int64_t>(dims.lhs_batch.size());
  hlo::DotDims canonical;
  canonical.lhs_batch = canonical.rhs_batch = iota(batch_rank);
  canonical.lhs_contracting = {batch_rank + 1};
  canonical.rhs_contracting = {batch_rank};
  const auto is_canonical = [&](const hlo::DotDims& own) {
    return own == canonical && lhs->shape.rank() == batch_rank + 2 && rhs->shape.rank() == batch_rank + 2;
  };
  if (is_canonical(dims)) return nullptr;
  Dims batch;
  for (int64_t d : dims.lhs_batch) batch.push_back(lhs->shape.dims[at(d)]);
  const int64_t m = product(lhs->shape, lhs_free), k = product(lhs->shape, dims.lhs_contracting),
                n = product(rhs->shape, rhs_free);
  Instruction* left = edit.reshape(
      edit.transpose(lhs, concat(dims.lhs_batch, lhs_free, dims.lhs_contracting)), concat(batch, {m}, {k}));
  Instruction* right = edit.reshape(
      edit.transpose(rhs, concat(dims.rhs_batch, dims.rhs_contracting, rhs_free)), concat(batch, {k}, {n}));
  Instruction* dot = edit.clone(inst, {left, right});
  dot->shape = Shape::array(inst->shape.dtype, concat(batch, {m}, {n}));
  dot->mutable_attrs().dot = canonical;
  return edit.reshape(dot, inst->shape.dims);
}

}  // namespace

Status dot_decomposer(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, decompose);
}

}  // namespace ncc::hlo_passes
