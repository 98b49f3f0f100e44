// All-gathers that a loop need not repeat:
//   neuron_move_all_gather_while_loop (105)        all-gather of what the loop does not change, through ops
//   that
//                                                  compute nothing -> gathered before the loop and carried
//   aws_neuron_rewrite_all_gather_trip_count (111) all-gather(dynamic-slice(w, i)), w unchanged, i counting
//   through
//                                                  all of a dimension of w -> w gathered before the loop;
//                                                  each iteration slices what was gathered
// Gathering before the loop happens also when the loop does not run; that takes time but changes nothing. At
// most kMaxCarried bytes are carried per gather. Source: spec/hlo-front-half.md §4.16, §4.19.
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMaxCarried = int64_t{1} << 30;

bool is_state_element(const Instruction* value) {
  return value->is(Opcode::GetTupleElement) && value->operand(0)->is(Opcode::Parameter);
}

bool is_invariant_element(const Instruction& loop, const Instruction* value) {
  return is_state_element(value) && is_plain_array(value) && is_invariant(loop, value->index);
}

// `body` reads the last element of the state, which add_invariants has appended, instead of the gather.
Instruction* carried(ComputationEditor& body, const Instruction& loop) {
  Instruction* parameter = loop.while_body()->parameters()[0];
  return body.element(parameter, static_cast<int64_t>(loop.shape.elements.size()) - 1);
}

// --- 105 ---

// The unary ops between an invariant element and the gather, the nearest to the gather first.
std::optional<std::vector<Instruction*>> chain_to_invariant(const Instruction& loop, Instruction* value) {
  std::vector<Instruction*> chain;
  while (!is_invariant_element(loop, value)) {
    const bool is_free = value->is(Opcode::Reshape) || value->is(Opcode::Transpose) ||
                         value->is(Opcode::Convert) || value->is(Opcode::Copy) || value->is(Opcode::Slice);
    if (!is_free || !is_plain_array(value)) return std::nullopt;
    chain.push_back(value);
    value = value->operand(0);
  }
  chain.push_back(value);
  return chain;
}

// Returns the loop that now carries the gathered value, or nullptr.
Instruction* move_gather(ComputationEditor& edit, Instruction* loop, Instruction* gather) {
  const auto chain = chain_to_invariant(*loop, gather->operand(0));
  if (!chain || gather->shape.size_bytes() > kMaxCarried) return nullptr;
  Instruction* value = edit.element(loop->operand(0), chain->back()->index);
  for (size_t i = chain->size() - 1; i-- > 0;) value = edit.clone((*chain)[i], {value});
  value = edit.clone(gather, {value});
  Instruction* made = add_invariants(edit, loop, {value});
  ComputationEditor body(made->while_body());
  body.replace(gather, carried(body, *made));
  body.erase(gather);
  NCC_CHECK(body.finish().is_ok(), "a loop body has a cycle");
  return made;
}

// --- 111 ---

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
  if (shape.size_bytes() > kMaxCarried) return nullptr;
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

// --- both ---

std::vector<Instruction*> gathers_of(Computation* body) {
  const ComputationEditor edit(body);
  std::vector<Instruction*> gathers;
  for (Instruction* inst : body->post_order())
    if (is_simple_collective(edit, inst, Opcode::AllGather) && body->root() != inst && process_groups(*inst))
      gathers.push_back(inst);
  return gathers;
}

using Move = Instruction* (*)(ComputationEditor& edit, Instruction* loop, Instruction* gather);

Status move_gathers(hlo::Module& module, PassContext& context, Move move) {
  const auto callers = caller_counts(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::While)) continue;
      Instruction* loop = inst;
      if (!owns_its_state(edit, *loop, callers)) continue;
      edit.set_location(inst->loc);
      for (Instruction* gather : gathers_of(loop->while_body())) {
        Instruction* made = move(edit, loop, gather);
        if (!made) continue;
        edit.erase(loop);
        loop = made;
      }
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace

Status move_all_gather_while_loop(hlo::Module& module, PassContext& context) {
  return move_gathers(module, context, move_gather);
}

Status rewrite_all_gather_trip_count(hlo::Module& module, PassContext& context) {
  return move_gathers(module, context,
                      [](ComputationEditor& edit, Instruction* loop, Instruction* gather) -> Instruction* {
                        constexpr int64_t kMostTrips = 1 << 16;
                        const auto trips = trip_count(*loop, kMostTrips);
                        return trips ? move_counted(edit, loop, gather, *trips) : nullptr;
                      });
}

}  // namespace ncc::hlo_passes
