#include "tools/hlo-opt/hlo/draws.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>

#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/equivalence.h"

namespace ncc::hlo_passes {
namespace {

// A mark is "draw <number>;" before the unknown fields of the location, which text has no place for.
constexpr std::string_view kMark = "draw ";

std::string_view fields_of(const Instruction& inst) {
  return inst.loc_details ? std::string_view(inst.loc_details->unknown_fields) : std::string_view();
}

// The length of the mark at the front; 0 = none.
size_t mark_length(std::string_view fields) {
  if (!fields.starts_with(kMark)) return 0;
  const size_t end = fields.find(';');
  return end == std::string_view::npos ? 0 : end + 1;
}

// 0 = none.
uint64_t mark_of(const Instruction& inst) {
  const std::string_view fields = fields_of(inst);
  const size_t length = mark_length(fields);
  uint64_t mark = 0;
  if (length != 0) std::from_chars(fields.data() + kMark.size(), fields.data() + length, mark);
  return mark;
}

void set_mark(Instruction& inst, const std::string& mark) {
  hlo::LocationDetails details = inst.loc_details ? *inst.loc_details : hlo::LocationDetails();
  details.unknown_fields.replace(0, mark_length(details.unknown_fields), mark);
  inst.loc_details = hlo::share_details(std::move(details));
}

template <class Visit>
void each_draw(const hlo::Module& module, const Visit& visit) {
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions())
      if (inst->is(Opcode::Rng)) visit(*inst);
}

// Numbers below 4, different for every mark and element.
Literal quarters(const std::vector<int64_t>& dims, uint64_t mark, Dtype type) {
  const Literal random = generated_input(Shape::array(Dtype::U16, dims), mark, false);
  Literal literal = Literal::zeros(Shape::array(type, dims));
  for (int64_t i = 0; i < literal.num_elements(); ++i)
    store_from_double(type, literal.mutable_data() + i * size_bytes(type),
                      static_cast<double>(random.as_int64(i) % 4) / 4);
  return literal;
}

}  // namespace

void mark_draws(hlo::Module& module) {
  uint64_t number = 0;
  each_draw(module, [&](Instruction& inst) { set_mark(inst, fmt::format("{}{};", kMark, ++number)); });
}

void unmark_draws(hlo::Module& module) {
  each_draw(module, [](Instruction& inst) {
    if (mark_of(inst) != 0) set_mark(inst, "");
  });
}

bool has_repeated_draws(const hlo::Module& module) {
  std::set<uint64_t> seen;
  bool repeated = false;
  each_draw(module, [&](const Instruction& inst) { repeated |= !seen.insert(mark_of(inst)).second; });
  return repeated;
}

bool has_draws(const hlo::Module& module) {
  bool found = false;
  each_draw(module, [&](const Instruction&) { found = true; });
  return found;
}

std::vector<bool> depend_on_draws(const hlo::Module& module, const std::vector<const Instruction*>& values) {
  std::unordered_set<const Computation*> drawing;
  const auto draws = [&](const Instruction& inst) {
    return inst.is(Opcode::Rng) || inst.is(Opcode::RngGetAndUpdateState) ||
           std::any_of(inst.called.begin(), inst.called.end(),
                       [&](const Computation* called) { return drawing.count(called) != 0; });
  };
  std::unordered_set<const Instruction*> tainted;
  // Callees come first, and so do operands.
  for (const Computation* computation : module.post_order()) {
    for (const Instruction* inst : computation->post_order()) {
      const bool is_drawn = draws(*inst);
      if (is_drawn) drawing.insert(computation);
      if (is_drawn || std::any_of(inst->operands.begin(), inst->operands.end(),
                                  [&](const Instruction* operand) { return tainted.count(operand) != 0; }))
        tainted.insert(inst);
    }
  }
  std::vector<bool> found;
  for (const Instruction* value : values) found.push_back(tainted.count(value) != 0);
  return found;
}

Status fix_draws(hlo::Module& module) {
  int64_t changes = 0;
  return edit_each(module, changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!inst->is(Opcode::Rng) || edit.has_control_edge(inst)) return Status::ok();
    const std::vector<int64_t>& dims = inst->shape.dims;
    const Dtype type = inst->shape.dtype;
    Instruction* low = edit.broadcast_scalar(inst->operand(0), dims);
    Instruction* high = edit.broadcast_scalar(inst->operand(1), dims);
    Instruction* value = nullptr;
    if (is_float(type)) {
      // One quarter, one half, … on the way from the one to the other.
      Instruction* way = edit.constant(quarters(dims, mark_of(*inst), type));
      value = edit.apply(
          Opcode::Add, {low, edit.apply(Opcode::Multiply, {edit.apply(Opcode::Subtract, {high, low}), way})});
    } else {
      Instruction* is_low =
          edit.constant(generated_input(Shape::array(Dtype::Pred, dims), mark_of(*inst), false));
      value = edit.apply(Opcode::Select, {is_low, low, high});
    }
    edit.replace(inst, value);
    edit.erase(inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
