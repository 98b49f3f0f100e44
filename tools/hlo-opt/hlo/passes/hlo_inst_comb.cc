// Trees and rows of slices of one value:
//   slice(x, rows 0..K) + slice(x, rows K..2K) + … -> reduce(reshape(x, {N, K, …}), add) over the new
//   dimension,
//     when the slices, in any order, are all the rows; at least kFewestSlices of them, used nowhere else
//   concatenate(slices of a broadcast that leave its operand's dimensions whole) -> one broadcast
// Source: spec/hlo-front-half.md §4.11.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr size_t kFewestSlices = 4;

// Rows [start, limit) of dimension 0 and everything of the others.
bool is_row_slice(const Instruction& inst) {
  if (!inst.is(Opcode::Slice) || inst.shape.rank() == 0) return false;
  const hlo::Attributes& attrs = inst.attrs();
  for (size_t d = 0; d < attrs.slice_starts.size(); ++d) {
    if (attrs.slice_strides[d] != 1) return false;
    if (d > 0 && (attrs.slice_starts[d] != 0 || attrs.slice_limits[d] != inst.operand_shape(0).dims[d]))
      return false;
  }
  return true;
}

// The leaves of a tree of adds, each used once; nothing when one of them is no slice.
std::optional<std::vector<Instruction*>> leaves_of(ComputationEditor& edit, Instruction* root) {
  std::vector<Instruction*> leaves, work{root};
  while (!work.empty()) {
    Instruction* inst = work.back();
    work.pop_back();
    if (inst != root && (!edit.has_one_use(inst) || edit.has_control_edge(inst))) return std::nullopt;
    if (inst->is(Opcode::Add)) {
      work.insert(work.end(), inst->operands.begin(), inst->operands.end());
    } else if (is_row_slice(*inst)) {
      leaves.push_back(inst);
    } else {
      return std::nullopt;
    }
  }
  return leaves;
}

bool is_inner_add(ComputationEditor& edit, const Instruction* inst) {
  const auto users = edit.users(inst);
  return users.size() == 1 && users[0]->is(Opcode::Add) && edit.has_one_use(inst);
}

Instruction* reduce_of_slices(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Add) || !is_plain_array(inst) || is_pred(inst) || inst->shape.rank() == 0 ||
      is_inner_add(edit, inst))
    return nullptr;
  auto leaves = leaves_of(edit, inst);
  if (!leaves || leaves->size() < kFewestSlices) return nullptr;
  std::sort(leaves->begin(), leaves->end(), [](const Instruction* a, const Instruction* b) {
    return a->attrs().slice_starts[0] < b->attrs().slice_starts[0];
  });
  Instruction* x = (*leaves)[0]->operand(0);
  const int64_t rows = inst->shape.dims[0], count = static_cast<int64_t>(leaves->size());
  if (rows == 0 || x->shape.dims[0] != rows * count) return nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const Instruction* leaf = (*leaves)[static_cast<size_t>(i)];
    if (leaf->operand(0) != x || leaf->attrs().slice_starts[0] != i * rows) return nullptr;
  }
  Dims sizes = x->shape.dims;
  sizes[0] = rows;
  sizes.insert(sizes.begin(), count);
  return edit.reduce(edit.reshape(x, std::move(sizes)), edit.scalar(x->shape.dtype, 0), {0}, Opcode::Add);
}

Instruction* broadcast_of_slices(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Concatenate) || inst->num_operands() < 2 || !is_plain_array(inst)) return nullptr;
  if (!inst->operand(0)->is(Opcode::Slice) || !inst->operand(0)->operand(0)->is(Opcode::Broadcast))
    return nullptr;
  Instruction* broadcast = inst->operand(0)->operand(0);
  const Dims& own = broadcast->dimensions;
  if (std::find(own.begin(), own.end(), inst->dimensions[0]) != own.end()) return nullptr;
  for (const Instruction* slice : inst->operands) {
    if (!slice->is(Opcode::Slice) || slice->operand(0) != broadcast) return nullptr;
    for (int64_t d : own)
      if (slice->shape.dims[static_cast<size_t>(d)] != broadcast->shape.dims[static_cast<size_t>(d)])
        return nullptr;
  }
  return edit.broadcast(broadcast->operand(0), inst->shape.dims, own);
}

}  // namespace

Status hlo_inst_comb(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes,
                      [](ComputationEditor& edit, Instruction* inst) -> Instruction* {
                        if (Instruction* value = reduce_of_slices(edit, inst)) return value;
                        return broadcast_of_slices(edit, inst);
                      });
}

}  // namespace ncc::hlo_passes
