// A chain of dynamic-update-slices with constant starts that covers its base completely is a concatenate:
//   dus(dus(dus(base, u0, 0), u1, n), u2, 2n) -> concatenate(u0, u1, u2)
// Updates are full in every dimension but one, lie side by side there without overlap, and intermediate
// values have no other user. Linear: a chain is walked once, from its last link. Source:
// spec/hlo-front-half.md §4.9 (108).
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

struct Link {
  int64_t start;
  Instruction* update;
};

// The one dimension in which the update is smaller than its base; -1 when there are several or none.
int64_t updated_dimension(const Instruction& inst) {
  int64_t found = -1;
  for (int64_t d = 0; d < inst.shape.rank(); ++d) {
    const size_t at = static_cast<size_t>(d);
    if (inst.operand_shape(1).dims[at] == inst.shape.dims[at]) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

// The clamped start along `dim`, when it is a constant.
std::optional<int64_t> start_of(const Instruction& inst, int64_t dim) {
  const auto start = integer_of(inst.operand(2 + dim));
  if (!start || *start < 0) return std::nullopt;
  const size_t at = static_cast<size_t>(dim);
  return std::min(*start, inst.shape.dims[at] - inst.operand_shape(1).dims[at]);
}

Instruction* join(ComputationEditor& edit, Instruction* last) {
  if (!last->is(Opcode::DynamicUpdateSlice) || !is_plain_array(last)) return nullptr;
  // Only the last link of a chain starts a walk.
  for (const Instruction* user : edit.users(last))
    if (user->is(Opcode::DynamicUpdateSlice) && user->operand(0) == last) return nullptr;
  const int64_t dim = updated_dimension(*last);
  if (dim < 0) return nullptr;
  const size_t at = static_cast<size_t>(dim);
  std::vector<Link> links;
  int64_t covered = 0;
  for (Instruction* inst = last; inst->is(Opcode::DynamicUpdateSlice); inst = inst->operand(0)) {
    const auto start = updated_dimension(*inst) == dim ? start_of(*inst, dim) : std::nullopt;
    if (!start || (inst != last && !edit.has_one_use(inst))) break;
    links.push_back({*start, inst->operand(1)});
    covered += inst->operand_shape(1).dims[at];
    if (covered >= last->shape.dims[at]) break;
  }
  if (covered != last->shape.dims[at] || links.size() < 2) return nullptr;
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.start < b.start; });
  int64_t next = 0;
  std::vector<Instruction*> parts;
  for (const Link& link : links) {
    if (link.start != next) return nullptr;
    next += link.update->shape.dims[at];
    parts.push_back(link.update);
  }
  return edit.concatenate(std::move(parts), dim);
}

}  // namespace

Status repeated_dus_to_concat(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, join);
}

}  // namespace ncc::hlo_passes
