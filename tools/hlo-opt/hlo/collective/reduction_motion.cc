#include "tools/hlo-opt/hlo/collective/reduction_motion.h"

#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/loop_state.h"
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

// Element `index` of the state is the sum of itself and a collective.
struct RunningSum {
  int64_t index;
  Instruction *add, *before, *collective;
};

bool reads_element(const Computation& computation, int64_t index) {
  return std::any_of(computation.instructions().begin(), computation.instructions().end(),
                     [&](const auto& inst) {
                       return inst->is(Opcode::GetTupleElement) && inst->index == index &&
                              inst->operand(0)->is(Opcode::Parameter);
                     });
}

std::optional<RunningSum> running_sum(ComputationEditor& body, const Instruction& loop, int64_t index,
                                      Opcode opcode) {
  Instruction* add = body.computation()->root()->operand(index);
  if (!add->is(Opcode::Add) || !body.has_one_use(add) || body.has_control_edge(add) ||
      reads_element(*loop.while_condition(), index))
    return std::nullopt;
  for (int64_t side : {0, 1}) {
    Instruction *before = add->operand(side), *collective = add->operand(1 - side);
    if (!before->is(Opcode::GetTupleElement) || before->index != index ||
        !before->operand(0)->is(Opcode::Parameter) || !body.has_one_use(before) ||
        !is_simple_collective(body, collective, opcode) || !body.has_one_use(collective) ||
        binary_body(*collective->body()) != Opcode::Add || is_pred(collective) ||
        collective->body()->root()->shape.dtype != collective->shape.dtype)
      continue;
    const auto& instructions = body.computation()->instructions();
    const bool other_reader = std::any_of(instructions.begin(), instructions.end(), [&](const auto& inst) {
      return inst.get() != before && inst->is(Opcode::GetTupleElement) && inst->index == index &&
             inst->operand(0) == before->operand(0) && body.use_count(inst.get()) > 0;
    });
    if (other_reader || !process_groups(*collective)) continue;
    return RunningSum{index, add, before, collective};
  }
  return std::nullopt;
}

// The elements of the state have `shapes` from now on.
void set_state(Instruction* loop, const std::vector<Shape>& shapes) {
  const Shape state = Shape::make_tuple(shapes);
  loop->shape = state;
  for (Computation* part : {loop->while_body(), loop->while_condition()}) {
    part->parameters()[0]->shape = state;
    for (const auto& inst : part->instructions())
      if (inst->is(Opcode::GetTupleElement) && inst->operand(0)->is(Opcode::Parameter))
        inst->shape = shapes[static_cast<size_t>(inst->index)];
  }
  loop->while_body()->root()->shape = state;
}

// `edit` is of the computation with the loop. Rewrites one element; true when it did.
bool move_one(ComputationEditor& edit, Instruction* loop, Opcode opcode, int64_t index) {
  std::vector<Instruction*> readers;
  for (Instruction* user : edit.users(loop))
    if (user->index == index) readers.push_back(user);
  if (readers.empty()) return false;
  ComputationEditor body(loop->while_body());
  const auto sum = running_sum(body, *loop, index, opcode);
  if (!sum) return false;
  const Shape whole = sum->collective->operand_shape(0);
  std::vector<Shape> shapes = loop->shape.elements;
  shapes[static_cast<size_t>(index)] = whole;
  Instruction* initial = edit.element(loop->operand(0), index);
  std::vector<Instruction*> state;
  for (int64_t i = 0; i < static_cast<int64_t>(shapes.size()); ++i)
    state.push_back(i == index ? edit.splat(whole, 0) : edit.element(loop->operand(0), i));
  edit.set_operand(loop, 0, edit.tuple(std::move(state)));
  set_state(loop, shapes);
  Instruction* fresh = edit.element(loop, index);
  Instruction* reduced = collective_on(edit, sum->collective, fresh, sum->collective->shape);
  Instruction* total = edit.apply(Opcode::Add, {initial, reduced});
  for (Instruction* reader : readers) edit.replace(reader, total);
  // Inside: the piece itself is added.
  sum->add->shape = whole;
  body.set_operand(sum->add, sum->add->operand(0) == sum->collective ? 0 : 1, sum->collective->operand(0));
  body.erase(sum->collective);
  NCC_CHECK(body.finish().is_ok(), "a loop body has a cycle");
  return true;
}

}  // namespace

Status move_reductions(hlo::Module& module, int64_t& changes, Opcode opcode) {
  const auto callers = caller_counts(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      if (!inst->is(Opcode::While) || !owns_its_state(edit, *inst, callers)) continue;
      edit.set_location(inst->loc);
      for (int64_t i = 0; i < static_cast<int64_t>(inst->shape.elements.size()); ++i)
        move_one(edit, inst, opcode, i);
    }
    changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
