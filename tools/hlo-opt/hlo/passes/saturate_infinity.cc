// Infinities that would turn into NaN become the largest finite value of their type, with their sign:
//   add(a, b), subtract(a, b)          -> of clamped operands, where infinities can meet that cancel
//   multiply(a, b)                     -> where an infinity can meet a zero
//   divide(a, b)                       -> where both can be infinite
//   remainder(a, b), sine, cosine, tan -> of a clamped first operand
//   dot, convolution, einsum           -> of clamped operands
//   reductions, scatters, collectives  -> of clamped values, where what they apply can make NaN as above
//   batch-norm, fft, cholesky, triangular-solve -> of clamped operands
// clamp(-max, x, max) keeps NaN, and finite values as they are. An operand that cannot be infinite is left
// alone (float_facts.h), and a clamp of repeated values clamps what is repeated. Not looked into: complex
// values, custom-calls, and the sums inside one op, which may still overflow to infinities of both signs.
// Source: spec/driver.md §1.5.
#include <algorithm>
#include <unordered_map>

#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/float_facts.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_clampable(const Instruction* value) { return is_plain_array(value) && is_float(value->shape.dtype); }

/// What an infinity among its operands can do to an op.
enum class Danger : uint8_t {
  None,
  Sum,         // of infinities of both signs
  Difference,  // of infinities of one sign
  Product,     // of an infinity and a zero
  Quotient,    // of two infinities
  First,       // an infinite first operand gives NaN
  Any,         // an infinite operand can give NaN
};

/// Of an op that applies `body`.
Danger danger_of_body(const Computation& body) {
  const std::optional<Opcode> op = binary_body(body);
  if (op == Opcode::Add) return Danger::Sum;
  if (op == Opcode::Multiply) return Danger::Product;
  const auto& all = body.instructions();
  const bool only_chooses = std::all_of(all.begin(), all.end(), [](const auto& inst) {
    switch (inst->opcode) {
      case Opcode::Parameter:
      case Opcode::Constant:
      case Opcode::Maximum:
      case Opcode::Minimum:
      case Opcode::Compare:
      case Opcode::Select:
      case Opcode::And:
      case Opcode::Or:
      case Opcode::Not:
      case Opcode::Tuple:
      case Opcode::Convert:
      case Opcode::Copy:
        return true;
      default:
        return is_integer(inst->shape.dtype) && inst->shape.is_array();
    }
  });
  return only_chooses ? Danger::None : Danger::Any;
}

Danger danger_of(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Add:
      return Danger::Sum;
    case Opcode::Subtract:
      return Danger::Difference;
    case Opcode::Multiply:
      return Danger::Product;
    case Opcode::Divide:
      return Danger::Quotient;
    case Opcode::Remainder:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Tan:
      return Danger::First;
    case Opcode::Dot:
    case Opcode::Convolution:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot:
    case Opcode::Einsum:
    case Opcode::UnaryEinsum:
    case Opcode::BatchNormGrad:
    case Opcode::BatchNormInference:
    case Opcode::BatchNormTraining:
    case Opcode::Cholesky:
    case Opcode::Fft:
    case Opcode::TriangularSolve:
      return Danger::Any;
    case Opcode::Map:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Scan:
    case Opcode::Scatter:
    case Opcode::AllReduce:
    case Opcode::AllReduceStart:
    case Opcode::CollectiveReduce:
    case Opcode::ReduceScatter:
      return danger_of_body(*inst.body());
    case Opcode::SelectAndScatter:
      return danger_of_body(*inst.called[1]);
    default:
      return Danger::None;
  }
}

/// The clamps of one computation.
class Saturation {
 public:
  explicit Saturation(Computation* computation) : edit_(computation) {}

  Status run(int64_t& changes) {
    NCC_TRY(edit_.visit_all([this](Instruction* inst) {
      visit(inst);
      return Status::ok();
    }));
    changes += edit_.changes();
    return edit_.finish();
  }

 private:
  void visit(Instruction* inst) {
    if (const Danger danger = danger_of(*inst); danger != Danger::None)
      for (const int64_t slot : endangered(*inst, danger)) clamp_operand(inst, slot);
    facts_.visit(inst);
  }

  bool is_infinite(const Instruction& inst, int64_t slot) const {
    return is_clampable(inst.operand(slot)) && facts_.of(inst.operand(slot)).is_infinite();
  }

  /// The operands to clamp.
  std::vector<int64_t> endangered(const Instruction& inst, Danger danger) const {
    std::vector<int64_t> infinite;
    // Select-and-scatter only compares its first operand.
    for (int64_t slot = inst.is(Opcode::SelectAndScatter); slot < inst.num_operands(); ++slot)
      if (is_infinite(inst, slot)) infinite.push_back(slot);
    if (infinite.empty() || danger == Danger::Any) return infinite;
    if (danger == Danger::First) return infinite[0] == 0 ? std::vector<int64_t>{0} : std::vector<int64_t>{};
    return can_be_nan(inst, danger) ? infinite : std::vector<int64_t>{};
  }

  bool can_be_nan(const Instruction& inst, Danger danger) const {
    if (inst.info().elementwise) {
      const bool is_same = inst.operand(0) == inst.operand(1);
      const FloatFacts a = facts_.of(inst.operand(0)), b = facts_.of(inst.operand(1));
      switch (danger) {
        case Danger::Sum:
          return !is_same && ((a.pos_inf && b.neg_inf) || (a.neg_inf && b.pos_inf));
        case Danger::Difference:
          return (a.pos_inf && b.pos_inf) || (a.neg_inf && b.neg_inf);
        case Danger::Product:
          return !is_same && ((a.is_infinite() && b.zero) || (a.zero && b.is_infinite()));
        case Danger::Quotient:
          return a.is_infinite() && b.is_infinite();
        default:
          return true;
      }
    }
    FloatFacts all{.negative = false, .zero = false, .pos_inf = false, .neg_inf = false};
    for (const Instruction* operand : inst.operands) {
      if (!is_clampable(operand)) continue;
      const FloatFacts one = facts_.of(operand);
      all.zero |= one.zero;
      all.pos_inf |= one.pos_inf;
      all.neg_inf |= one.neg_inf;
    }
    return danger == Danger::Product ? all.zero : all.pos_inf && all.neg_inf;
  }

  void clamp_operand(Instruction* inst, int64_t slot) {
    edit_.set_operand(inst, slot, clamped(inst->operand(slot)));
  }

  Instruction* clamped(Instruction* value) {
    if (const auto known = clamped_.find(value); known != clamped_.end() && !edit_.is_dead(known->second))
      return known->second;
    Instruction* result = nullptr;
    if (value->is(Opcode::Broadcast)) {
      result = edit_.clone(value, {clamped(value->operand(0))});
    } else {
      // The machine computes f64 as f32: a bound beyond f32's would be none there.
      const Dtype dtype = value->shape.dtype;
      const double largest = largest_finite(dtype == Dtype::F64 ? Dtype::F32 : dtype);
      result = edit_.add(Opcode::Clamp, Shape::array(dtype, value->shape.dims),
                         {edit_.scalar(dtype, -largest), value, edit_.scalar(dtype, largest)});
    }
    FloatFacts facts = facts_.of(value);
    facts.pos_inf = facts.neg_inf = false;
    facts_.set(result, facts);
    clamped_[value] = result;
    return result;
  }

  ComputationEditor edit_;
  FloatFactTable facts_;
  std::unordered_map<const Instruction*, Instruction*> clamped_;
};

}  // namespace

Status saturate_infinity(hlo::Module& module, PassContext& context) {
  for (Computation* computation : step_computations(module))
    NCC_TRY(Saturation(computation).run(context.changes));
  return Status::ok();
}

}  // namespace ncc::hlo_passes
