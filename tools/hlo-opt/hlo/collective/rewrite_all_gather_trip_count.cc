// all-gather(dynamic-slice(w, i)), w unchanged by the loop, i counting through all of a dimension of w -> w
// gathered before the loop; each iteration slices what was gathered (gather_motion.h). Source:
// spec/hlo-front-half.md §4.16, §4.19 (111).
#include <algorithm>
#include <optional>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/collective/gather_motion.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/loops.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// An element that starts at a constant and grows by a constant: equal in all processes that run the loop
// alike.
bool is_counter(const Instruction& loop, int64_t index) {
  const Instruction* initial = initial_element(loop, index);
  const Instruction* next = loop.while_body()->root()->operand(index);
  if (!initial || !integer_of(initial) || !next->is(Opcode::Add)) return false;
  for (int64_t side : {0, 1}) {
    const Instruction* self = next->operand(side);
    if (is_state_element(self) && self->index == index && integer_of(next->operand(1 - side))) return true;
  }
  return false;
}

bool is_uniform(const Instruction& loop, const Instruction* value, int depth = 0) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth || !value->shape.is_scalar()) return false;
  if (value->is(Opcode::Constant)) return true;
  if (is_state_element(value)) return is_counter(loop, value->index);
  if (!value->info().elementwise || value->is(Opcode::Map) || value->operands.empty()) return false;
  return std::all_of(value->operands.begin(), value->operands.end(),
                     [&](const Instruction* operand) { return is_uniform(loop, operand, depth + 1); });
}

struct CountedGather {
  Instruction *slice, *element;
  size_t counted;   // dimension of the element that the loop counts through
  size_t gathered;  // dimension of the element that is gathered
};

std::optional<CountedGather> counted_gather(const Instruction& loop, Instruction* gather, int64_t trips) {
  Instruction* slice = gather->operand(0);
  const bool is_reshaped = slice->is(Opcode::Reshape);
  if (is_reshaped) slice = slice->operand(0);
  if (!slice->is(Opcode::DynamicSlice) || !is_invariant_element(loop, slice->operand(0))) return std::nullopt;
  Instruction* element = slice->operand(0);
  const Dims &sizes = slice->shape.dims, &whole = element->shape.dims;
  std::optional<size_t> counted;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == whole[d]) continue;
    if (counted || sizes[d] != 1 || whole[d] != trips) return std::nullopt;
    counted = d;
  }
  if (!counted || !is_uniform(loop, slice->operand(1 + static_cast<int64_t>(*counted)))) return std::nullopt;
  const auto d = static_cast<size_t>(gather->dimensions[0]);
  if (!is_reshaped)
    return d == *counted ? std::nullopt : std::optional(CountedGather{slice, element, *counted, d});
  // The reshape drops the counted dimension and nothing else.
  Dims kept = sizes;
  kept.erase(kept.begin() + static_cast<int64_t>(*counted));
  if (kept != gather->operand_shape(0).dims) return std::nullopt;
  return CountedGather{slice, element, *counted, d < *counted ? d : d + 1};
}

Instruction* move_counted(ComputationEditor& edit, Instruction* loop, Instruction* gather, int64_t trips) {
  const auto found = counted_gather(*loop, gather, trips);
  if (!found) return nullptr;
  const int64_t before = gather->operand_shape(0).dims[static_cast<size_t>(gather->dimensions[0])];
  const int64_t members =
      before == 0 ? 0 : gather->shape.dims[static_cast<size_t>(gather->dimensions[0])] / before;
  Dims whole = found->element->shape.dims;
  whole[found->gathered] *= members;
  const Shape shape = Shape::array(gather->shape.dtype, whole);
  if (shape.size_bytes() > kMaxCarriedBytes) return nullptr;
  Instruction* all =
      collective_on(edit, gather, edit.element(loop->operand(0), found->element->index), shape);
  all->dimensions = {static_cast<int64_t>(found->gathered)};
  Instruction* made = add_invariants(edit, loop, {all});
  ComputationEditor body(made->while_body());
  const std::vector<Instruction*> starts(found->slice->operands.begin() + 1, found->slice->operands.end());
  Dims sizes = whole;
  sizes[found->counted] = 1;
  Instruction* part = body.dynamic_slice(carried(body, *made), starts, std::move(sizes));
  body.replace(gather, body.reshape(part, gather->shape.dims));
  body.erase(gather);
  NCC_CHECK(body.finish().is_ok(), "a loop body has a cycle");
  return made;
}

}  // namespace

Status rewrite_all_gather_trip_count(hlo::Module& module, PassContext& context) {
  return move_gathers(module, context.changes,
                      [](ComputationEditor& edit, Instruction* loop, Instruction* gather) -> Instruction* {
                        constexpr int64_t kMostTrips = 1 << 16;
                        const auto trips = trip_count(*loop, kMostTrips);
                        return trips ? move_counted(edit, loop, gather, *trips) : nullptr;
                      });
}

}  // namespace ncc::hlo_passes
