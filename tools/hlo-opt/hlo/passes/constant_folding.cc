// Constant folding: an instruction whose operands are constants becomes one, computed by the reference
// interpreter, so that it has the bits that it would have had. In the order of operands:
//   op(constant, …)                       -> constant
//   elementwise(splat, splat, …)          -> broadcast of the folded scalar
//   function(iota, broadcast, constant …) -> constant, for costly functions only (rotary tables, filter
//   banks)
// Broadcasts and iotas themselves stay as they are: they are smaller. Limits: max_folded_bytes per result,
// max_folded_work per instruction, and 32 times that per
// module. Loops, calls, effects, random numbers, custom-calls and what is dynamic or
// quantized are not folded. Source: spec/hlo-front-half.md §4.16 (fold iota), §2.3.
#include <algorithm>

#include "tools/hlo-opt/hlo/evaluate.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_costly(Opcode op) {
  switch (op) {
    case Opcode::Power:
    case Opcode::Exp:
    case Opcode::Expm1:
    case Opcode::Log:
    case Opcode::Log1p:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Tan:
    case Opcode::Tanh:
    case Opcode::Sqrt:
    case Opcode::Rsqrt:
    case Opcode::Cbrt:
    case Opcode::Atan2:
    case Opcode::Logistic:
    case Opcode::Erf:
      return true;
    default:
      return false;
  }
}

class Folder {
 public:
  Folder(ComputationEditor& edit, const PassOptions& limits, int64_t& budget)
      : edit_(edit), limits_(limits), budget_(budget) {}

  void visit(Instruction* inst) {
    if (!is_foldable(*inst)) return;
    if (inst->info().elementwise && fold_splat(inst)) return;
    if (!is_affordable(*inst)) return;
    const bool all_constant = std::all_of(inst->operands.begin(), inst->operands.end(),
                                          [](const Instruction* o) { return o->is(Opcode::Constant); });
    if (!all_constant && !(is_costly(inst->opcode) && is_known(*inst))) return;
    const int64_t work = work_of(*inst);
    if (work > budget_) return;
    budget_ -= work;
    fold(inst);
  }

 private:
  bool is_foldable(const Instruction& inst) const {
    if (edit_.is_pinned(&inst) || inst.operands.empty() || inst.is(Opcode::Broadcast) ||
        inst.is(Opcode::CustomCall) || inst.is(Opcode::Constant))
      return false;
    const auto is_simple = [](const Shape& shape) {
      return shape.is_array() && !shape.is_dynamic() && !shape.quantization;
    };
    for (const Instruction* operand : inst.operands)
      if (!is_simple(operand->shape)) return false;
    if (!inst.shape.is_tuple()) return is_simple(inst.shape);
    return !inst.shape.elements.empty() &&
           std::all_of(inst.shape.elements.begin(), inst.shape.elements.end(), is_simple);
  }

  bool is_affordable(const Instruction& inst) const {
    return inst.shape.size_bytes() <= limits_.max_folded_bytes && work_of(inst) <= limits_.max_folded_work;
  }

  // Every element is the same function of the same scalars.
  bool fold_splat(Instruction* inst) {
    if (inst->shape.rank() == 0 || inst->is(Opcode::Map)) return false;
    std::vector<Literal> scalars;
    for (const Instruction* operand : inst->operands) {
      const Literal* splat = splat_of(operand);
      if (!splat) return false;
      const int64_t width = size_bytes(splat->shape().dtype);
      scalars.push_back(Literal::copy(Shape::array(splat->shape().dtype),
                                      splat->bytes().subspan(0, static_cast<size_t>(width))));
    }
    const std::optional<Literal> value = evaluate_scalar(*inst, std::move(scalars));
    if (!value) return false;
    return edit_.replace(inst, edit_.broadcast_scalar(edit_.constant(*value), inst->shape.dims));
  }

  static std::optional<Literal> evaluate_scalar(const Instruction& like, std::vector<Literal> scalars) {
    hlo::Module module("fold");
    Computation* entry = module.add_computation("main");
    std::vector<Instruction*> operands;
    for (Literal& scalar : scalars) operands.push_back(entry->add_constant(std::move(scalar)));
    Instruction* inst = entry->add_clone(like, operands);
    inst->shape = Shape::array(like.shape.dtype);
    return evaluate(*inst, values_of(operands));
  }

  static std::vector<Literal> values_of(const std::vector<Instruction*>& constants) {
    std::vector<Literal> values;
    for (const Instruction* constant : constants) values.push_back(constant->literal);
    return values;
  }

  void fold(Instruction* inst) {
    std::vector<Literal> operands;
    for (Instruction* operand : inst->operands) {
      std::optional<Literal> value = known_value(*operand);
      if (!value) return;
      operands.push_back(std::move(*value));
    }
    const std::optional<Literal> value = evaluate(*inst, std::move(operands));
    if (!value) return;
    if (!value->is_tuple()) {
      edit_.replace(inst, edit_.constant(*value));
      return;
    }
    std::vector<Instruction*> elements;
    for (const Literal& element : value->elements()) elements.push_back(edit_.constant(element));
    edit_.replace(inst, edit_.tuple(std::move(elements)));
  }

  // Made of constants and iotas by a few cheap steps.
  bool is_known(const Instruction& inst, int depth = 0) const {
    constexpr int kMaxDepth = 8;
    if (inst.is(Opcode::Constant)) return true;
    if (depth > kMaxDepth || !inst.shape.is_array() || inst.shape.is_dynamic() ||
        inst.shape.size_bytes() > limits_.max_folded_bytes)
      return false;
    if (inst.is(Opcode::Iota)) return true;
    if (!inst.info().elementwise && !inst.is(Opcode::Broadcast) && !inst.is(Opcode::Reshape) &&
        !inst.is(Opcode::Transpose))
      return false;
    if (inst.is(Opcode::Map) || inst.shape.quantization || inst.operands.size() > 2) return false;
    return std::all_of(inst.operands.begin(), inst.operands.end(),
                       [&](const Instruction* operand) { return is_known(*operand, depth + 1); });
  }

  std::optional<Literal> known_value(const Instruction& inst) const {
    if (inst.is(Opcode::Constant)) return inst.literal;
    std::vector<Literal> operands;
    for (const Instruction* operand : inst.operands) {
      std::optional<Literal> value = known_value(*operand);
      if (!value) return std::nullopt;
      operands.push_back(std::move(*value));
    }
    return evaluate(inst, std::move(operands));
  }

  ComputationEditor& edit_;
  const PassOptions& limits_;
  int64_t& budget_;  // scalar operations left for the whole module
};

}  // namespace

Status constant_folding(hlo::Module& module, PassContext& context) {
  constexpr int64_t kInstructionsAtTheLimit = 32;
  int64_t budget = context.options.max_folded_work;
  budget = budget > INT64_MAX / kInstructionsAtTheLimit ? INT64_MAX : budget * kInstructionsAtTheLimit;
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    Folder(edit, context.options, budget).visit(inst);
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
