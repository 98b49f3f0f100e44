// f32 arithmetic in a narrower type T, as far as the module's attribute fp32_cast allows it:
//   matmult: dot(a, b) -> dot(T(a), T(b)), convolution alike. The result stays f32: products are summed in
//            f32.
//   all:     as matmult, and elementwise op(a, …) -> f32(op(T(a), …)), select and clamp included.
// T(a) is a conversion, done at compile time for constants and not at all for a value that was T before; what
// only moves T's values (reshape, transpose, slice, …) moves them as T. For T = f32r, which no HLO file can
// state, it is reduce-precision to f32r's 11 bits of mantissa, so that the module still says what is
// computed. Left in f32: operations with the frontend attribute auto_cast=none, dots that name their own
// algorithm, reductions and normalisations (their sums keep full precision), bodies of reductions, sorts and
// scatters, comparisons, and everything that is not f32. Source: spec/driver.md §1.7, spec/hlo-front-half.md
// §4.14, spec/simulator-numerics.md §5.6.
#include "tools/hlo-opt/hlo/passes/auto_cast.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "common/diag/suggest.h"
#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/evaluate.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kF32ExponentBits = 8;
constexpr int64_t kF32RMantissaBits = 11;

constexpr std::string_view kAttribute = "fp32_cast";

enum class CastScope : uint8_t {
  None,
  Matmult,  // dots and convolutions
  All,      // elementwise arithmetic too
};

struct Mode {
  std::string_view name;
  CastScope scope;
  Dtype type;
};
// Plain "all" and "matmult" mean bf16.
constexpr std::array<Mode, 12> kModes = {{{"none", CastScope::None, Dtype::BF16},
                                          {"matmult", CastScope::Matmult, Dtype::BF16},
                                          {"matmult-bf16", CastScope::Matmult, Dtype::BF16},
                                          {"matmult-fp16", CastScope::Matmult, Dtype::F16},
                                          {"matmult-fp32r", CastScope::Matmult, Dtype::F32R},
                                          {"matmult-fp8e4", CastScope::Matmult, Dtype::F8E4M3},
                                          {"all", CastScope::All, Dtype::BF16},
                                          {"all-bf16", CastScope::All, Dtype::BF16},
                                          {"all-fp16", CastScope::All, Dtype::F16},
                                          {"experimental-all-fp16", CastScope::All, Dtype::F16},
                                          // Only PE has f32r.
                                          {"all-fp32r", CastScope::Matmult, Dtype::F32R},
                                          {"all-fp8e4", CastScope::All, Dtype::F8E4M3}}};

bool is_f32(const Instruction* value) { return is_plain_array(value) && value->shape.dtype == Dtype::F32; }

/// Ops that hand elements on as they are; operands after the first are indices or sizes.
bool is_movement(const Instruction* inst) {
  switch (inst->opcode) {
    case Opcode::Reshape:
    case Opcode::Transpose:
    case Opcode::Broadcast:
    case Opcode::Reverse:
    case Opcode::Slice:
    case Opcode::DynamicSlice:
    case Opcode::Copy:
      return true;
    default:
      return false;
  }
}

/// Elementwise arithmetic on f32 whose result is f32. What reads bits or converts is not arithmetic.
bool is_arithmetic(const Instruction* inst) {
  if (!inst->info().elementwise || !inst->called.empty()) return false;
  switch (inst->opcode) {
    case Opcode::Convert:
    case Opcode::ReducePrecision:
    case Opcode::StochasticConvert:
    case Opcode::NextAfter:
    case Opcode::Copy:
      return false;
    default:
      break;
  }
  for (int64_t i = 0; i < inst->num_operands(); ++i) {
    const bool is_predicate = inst->is(Opcode::Select) && i == 0;
    if (!is_predicate && !is_f32(inst->operand(i))) return false;
  }
  return true;
}

/// The casts of one computation.
class AutoCast {
 public:
  AutoCast(Computation* computation, const Mode& mode)
      : edit_(computation), scope_(mode.scope), type_(mode.type) {}

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
    if (!is_f32(inst) || edit_.is_pinned(inst) || inst->attrs().find("auto_cast") == "none") return;
    if (inst->is(Opcode::Dot) || inst->is(Opcode::Convolution)) return visit_product(inst);
    if (scope_ == CastScope::All && is_arithmetic(inst)) return visit_arithmetic(inst);
    // A moved value that is T's anyway moves as T; its users then find it.
    if (scope_ == CastScope::All && is_movement(inst) && is_widened(inst->operand(0)))
      edit_.replace(inst, edit_.convert(moved(inst), Dtype::F32));
  }

  void visit_product(Instruction* inst) {
    if (!is_f32(inst->operand(0)) || !is_f32(inst->operand(1)) || !inst->attrs().algorithm.empty()) return;
    if (is_rounded(inst->operand(0)) && is_rounded(inst->operand(1))) return;
    edit_.replace(inst, edit_.clone(inst, {narrow(inst->operand(0)), narrow(inst->operand(1))}));
  }

  void visit_arithmetic(Instruction* inst) {
    std::vector<Instruction*> operands;
    for (Instruction* operand : inst->operands)
      operands.push_back(is_f32(operand) ? narrow(operand) : operand);
    Instruction* result = edit_.clone(inst, std::move(operands));
    result->shape = Shape::array(type_, inst->shape.dims);
    edit_.replace(inst, edit_.convert(result, Dtype::F32));
  }

  /// T(value).
  Instruction* narrow(Instruction* value) {
    if (is_widened(value)) return value->operand(0);
    if (is_rounded(value)) return value;
    if (const auto known = narrow_.find(value); known != narrow_.end() && !edit_.is_dead(known->second))
      return known->second;
    const bool moves_constant =
        type_ != Dtype::F32R && is_movement(value) && value->operand(0)->is(Opcode::Constant);
    Instruction* result = moves_constant ? moved(value) : converted(value);
    narrow_[value] = result;
    if (type_ == Dtype::F32R) rounded_.insert(result);
    return result;
  }

  /// The movement of T's values.
  Instruction* moved(Instruction* movement) {
    std::vector<Instruction*> operands = movement->operands;
    operands[0] = narrow(operands[0]);
    Instruction* result = edit_.clone(movement, std::move(operands));
    result->shape = Shape::array(type_, movement->shape.dims);
    return result;
  }

  Instruction* converted(Instruction* value) {
    if (type_ == Dtype::F32R) {
      Instruction* rounded = edit_.add(Opcode::ReducePrecision, value->shape, {value});
      rounded->mutable_attrs().exponent_bits = kF32ExponentBits;
      rounded->mutable_attrs().mantissa_bits = kF32RMantissaBits;
      return rounded;
    }
    Instruction* cast = edit_.convert(value, type_);
    if (!value->is(Opcode::Constant)) return cast;
    std::optional<Literal> literal = evaluate(*cast, {value->literal});
    return literal ? edit_.constant(std::move(*literal)) : cast;
  }

  bool is_widened(const Instruction* value) const {
    return type_ != Dtype::F32R && value->is(Opcode::Convert) && value->operand_shape(0).dtype == type_ &&
           is_plain_array(value->operand(0));
  }
  bool is_rounded(const Instruction* value) const { return type_ == Dtype::F32R && rounded_.contains(value); }

  ComputationEditor edit_;
  const CastScope scope_;
  const Dtype type_;
  std::unordered_map<const Instruction*, Instruction*> narrow_;
  std::unordered_set<const Instruction*> rounded_;  // f32r values
};

Result<const Mode*> find_mode(std::string_view name) {
  std::vector<std::string> names;
  for (const Mode& row : kModes) {
    if (row.name == name) return &row;
    names.emplace_back(row.name);
  }
  return error(Code::EARG001,
               fmt::format("unknown cast mode '{}', did you mean '{}'?", name, closest_name(name, names)));
}

}  // namespace

Status allow_fp32_cast(hlo::Module& module, std::string_view mode) {
  NCC_ASSIGN(const Mode* row, find_mode(mode));
  if (row->scope == CastScope::None) return Status::ok();
  auto& attributes = module.frontend_attributes;
  const auto at = std::lower_bound(attributes.begin(), attributes.end(),
                                   std::pair(std::string(kAttribute), std::string()));
  attributes.emplace(at, kAttribute, mode);
  return Status::ok();
}

Status auto_cast(hlo::Module& module, PassContext& context) {
  auto& attributes = module.frontend_attributes;
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [](const auto& attribute) { return attribute.first == kAttribute; });
  if (at == attributes.end()) return Status::ok();
  NCC_ASSIGN(const Mode* mode, find_mode(at->second));
  attributes.erase(at);
  ++context.changes;
  if (mode->scope == CastScope::None) return Status::ok();
  for (Computation* computation : step_computations(module))
    NCC_TRY(AutoCast(computation, *mode).run(context.changes));
  return Status::ok();
}

}  // namespace ncc::hlo_passes
