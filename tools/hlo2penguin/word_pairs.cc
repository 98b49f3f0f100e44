#include "tools/hlo2penguin/word_pairs.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "ir-formats/hlo/verify.h"
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/run.h"

namespace ncc::hlo2penguin {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

bool is_wide(const Shape& shape) {
  return shape.is_array() && (shape.dtype == Dtype::S64 || shape.dtype == Dtype::U64);
}

bool holds_wide(const Shape& shape) {
  return is_wide(shape) || std::any_of(shape.elements.begin(), shape.elements.end(), holds_wide);
}

Shape words(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements) elements.push_back(words(element));
    return Shape::make_tuple(std::move(elements));
  }
  if (!is_wide(shape)) return shape;
  std::vector<int64_t> dims = shape.dims;
  dims.push_back(2);
  return Shape::array(Dtype::U32, std::move(dims));
}

/// The operands that are positions: they are clamped to sizes, all of which are below 2^31.
std::pair<int64_t, int64_t> index_operands(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::DynamicSlice:
      return {1, inst.num_operands()};
    case Opcode::DynamicUpdateSlice:
      return {2, inst.num_operands()};
    case Opcode::Gather:
      return {1, 2};
    case Opcode::Scatter:
      return {(inst.num_operands() - 1) / 2, (inst.num_operands() - 1) / 2 + 1};
    default:
      return {0, 0};
  }
}

/// Positions beyond 32 bits are beyond every array: they are saturated, and then as far outside as before.
Status narrow_positions(hlo::Module& module) {
  for (Computation* computation : module.post_order()) {
    hlo_passes::ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      const auto [first, last] = index_operands(*inst);
      for (int64_t i = first; i < last; ++i) {
        Instruction* position = inst->operand(i);
        if (!is_wide(position->shape)) continue;
        edit.set_location(inst->loc);
        Instruction* narrow = edit.apply(Opcode::Minimum, {position, edit.splat(position->shape, INT32_MAX)});
        if (position->shape.dtype == Dtype::S64)
          narrow = edit.apply(Opcode::Maximum, {narrow, edit.splat(position->shape, INT32_MIN)});
        edit.set_operand(inst, i, edit.convert(narrow, Dtype::S32));
      }
    }
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

/// What hands values on without looking into them.
bool is_carrier(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Parameter:
    case Opcode::GetTupleElement:
    case Opcode::Tuple:
    case Opcode::While:
    case Opcode::Conditional:
    case Opcode::Call:
    case Opcode::OptBarrier:
      return true;
    default:
      return false;
  }
}

bool is_dynamic_access(const Instruction& inst) {
  return inst.is(Opcode::DynamicSlice) || inst.is(Opcode::DynamicUpdateSlice);
}

/// A slice of values becomes a slice of their words: whole in the last dimension.
void slice_words(Instruction* inst) {
  const int64_t first = index_operands(*inst).first;
  const Dtype index = first < inst->num_operands() ? inst->operand_shape(first).dtype : Dtype::S32;
  inst->operands.push_back(inst->parent->add_constant(hlo::Literal::scalar_int(index, 0)));
  if (inst->is(Opcode::DynamicSlice)) inst->mutable_attrs().slice_sizes.push_back(2);
  inst->shape = words(inst->shape);
}

/// A bitcast between a 64-bit integer and its words, or between signed and unsigned ones.
bool is_same_words(const Instruction& inst) {
  if (!inst.is(Opcode::BitcastConvert)) return false;
  const Shape to = words(inst.shape), from = words(inst.operand_shape(0));
  return to.dtype == from.dtype && to.dims == from.dims;
}

}  // namespace

Status pair_words(hlo::Module& module) {
  NCC_TRY(narrow_positions(module));
  hlo_passes::RunOptions run;
  for (const char* name : {"lower-64-bit", "cse", "dce"}) run.passes.push_back(hlo_passes::find_pass(name));
  NCC_TRY(hlo_passes::run_passes(module, run));

  // Decided on the types as they are, before the first of them changes.
  std::vector<Instruction*> carriers, accesses;
  for (Computation* computation : module.post_order()) {
    std::unordered_map<Instruction*, Instruction*> same;
    for (Instruction* inst : computation->post_order()) {
      const bool reads_wide = std::any_of(inst->operands.begin(), inst->operands.end(),
                                          [](const Instruction* value) { return holds_wide(value->shape); });
      if (!reads_wide && !holds_wide(inst->shape)) continue;
      if (is_carrier(*inst))
        carriers.push_back(inst);
      else if (is_dynamic_access(*inst))
        accesses.push_back(inst);
      else if (is_same_words(*inst))
        same.emplace(inst, inst->operand(0));
      else
        return error(Code::EVRF002, inst->loc, "64-bit integer", hlo::describe(*inst));
    }
    computation->replace_uses(same);
  }
  for (Instruction* inst : carriers) inst->shape = words(inst->shape);
  for (Instruction* inst : accesses) slice_words(inst);
  for (Computation* computation : module.post_order()) {
    computation->remove_dead();
    NCC_TRY(computation->sort());
  }
  module.has_entry_layout = false;
  return hlo::verify(module);
}

}  // namespace ncc::hlo2penguin
